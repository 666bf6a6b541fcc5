type ControlCounter = 'passed' | 'dropped' | 'videoStale' | 'limited' | 'deadman' | 'stops' | 'ticketsRefused'
/** The counts of a gateway, for metrics. */
export type GatewayCounter =
  | 'frames'
  | 'framesRefused'
  | 'logLines'
  | 'logLinesDropped'
  | 'heartbeats'
  | 'heartbeatsCoalesced'
  | 'heartbeatsWritten'
  | 'lastFlushMs'
  | ControlCounter
