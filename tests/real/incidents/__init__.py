"""What real clients see of the incidents that are shipped (`chaos/scenarios`)."""
