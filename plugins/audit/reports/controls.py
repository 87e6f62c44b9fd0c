"""Controls: rows of frameworks for which reports are evidence, in brief words of our own. No claim that they are met.

Sources: PCI DSS v4.0.1, requirement 10; SOC 2 trust services criteria 2017 (CC6, CC7); GDPR articles 15, 30, 33; HIPAA
45 CFR 164.312; ISO/IEC 27001:2022 annex A.
"""

from __future__ import annotations

from functools import partial

from plugins.audit.reports.report import Control

pci = partial(Control, "PCI DSS 4.0")
soc2 = partial(Control, "SOC 2")
gdpr = partial(Control, "GDPR")
hipaa = partial(Control, "HIPAA")
iso27001 = partial(Control, "ISO 27001:2022")
