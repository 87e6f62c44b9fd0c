"""WriteTxnMarkers (key 27): DOC"""

from proxy.protocol.api import WRITE_TXN_MARKERS
from proxy.protocol.schema import Request, Response, Struct, since
from proxy.protocol.wire import Error, ProducerId, TopicName, array, int8, int16, int32


class WriteTxnMarkersRequest(Request, api=WRITE_TXN_MARKERS):
    """DOC"""

    class WritableTxnMarker(Struct):
        """DOC"""

        class WritableTxnMarkerTopic(Struct):
            """DOC"""

            name: TopicName
            partition_indexes: array[int32]

        producer_id: ProducerId
        producer_epoch: int16
        transaction_result: bool
        topics: array[WritableTxnMarkerTopic]
        coordinator_epoch: int32
        transaction_version: int8 = since(2)

    markers: array[WritableTxnMarker]


class WriteTxnMarkersResponse(Response, api=WRITE_TXN_MARKERS):
    """DOC"""

    class WritableTxnMarkerResult(Struct):
        """DOC"""

        class WritableTxnMarkerTopicResult(Struct):
            """DOC"""

            class WritableTxnMarkerPartitionResult(Struct):
                """DOC"""

                partition_index: int32
                error_code: Error

            name: TopicName
            partitions: array[WritableTxnMarkerPartitionResult]

        producer_id: ProducerId
        topics: array[WritableTxnMarkerTopicResult]

    markers: array[WritableTxnMarkerResult]
