type ControlCounter = 'passed' | 'dropped' | 'videoStale' | 'limited' | 'deadman' | 'stops' | 'ticketsRefused'
/** The counts of a gateway, for metrics. */
export type GatewayCounter =
  | 'frames'
  | 'logLines'
  | 'logLinesDropped'
  | 'heartbeats'
  | 'heartbeatsCoalesced'
  | 'heartbeatsWritten'
  | 'lastFlushMs'
  | ControlCounter
