import type { Metrics } from './metrics.ts'

/** What a gateway tells of itself: numbers it keeps anyway, read when somebody asks. */
export function measureGateway(
  metrics: Metrics,
  gateway: {
    readonly connections: number
    readonly participants: number
    readonly sessions: number
    readonly counts: Readonly<
      Record<
        | ('frames' | 'logLines' | 'logLinesDropped' | 'heartbeats' | 'heartbeatsWritten' | 'lastFlushMs')
        | ('passed' | 'dropped' | 'deadman' | 'stops' | 'ticketsRefused'),
        number
      >
    >
  },
): void {
  const { gauge, counter } = metrics
  gauge('wheelhouse_gateway_robots', 'Robots connected to this gateway', () => gateway.connections)
  counter('wheelhouse_gateway_frames_total', 'Frames received from robots', () => gateway.counts.frames)
  counter('wheelhouse_robot_log_lines_total', 'Log lines of robots persisted', () => gateway.counts.logLines)
  counter(
    'wheelhouse_robot_log_lines_dropped_total',
    'Log lines of robots dropped: too many at once, or the database was away for long',
    () => gateway.counts.logLinesDropped,
  )
  gauge('wheelhouse_gateway_participants', 'Operators and watchers connected', () => gateway.participants)
  gauge('wheelhouse_gateway_sessions', 'Open sessions of robots that are here', () => gateway.sessions)
  const controlCounters = {
    passed: ['wheelhouse_control_relayed_total', 'Control frames that went to a robot'],
    dropped: ['wheelhouse_control_dropped_total', 'Control frames that did not, whatever the reason'],
    deadman: ['wheelhouse_deadman_stops_total', 'Robots stopped because control fell silent'],
    stops: ['wheelhouse_stops_total', 'Latched stops that came ahead of the database'],
    ticketsRefused: [
      'wheelhouse_gateway_tickets_refused_total',
      'Tickets refused because their key, permissions or turn had ended',
    ],
  } as const
  for (const [count, [name, help]] of Object.entries(controlCounters)) {
    counter(name, help, () => gateway.counts[count as keyof typeof controlCounters])
  }
  counter('wheelhouse_heartbeats_total', 'Heartbeats received', () => gateway.counts.heartbeats)
  counter(
    'wheelhouse_heartbeats_written_total',
    'Heartbeats written, at most one a second for each robot',
    () => gateway.counts.heartbeatsWritten,
  )
  gauge(
    'wheelhouse_heartbeat_flush_seconds',
    'How long the last statement that wrote heartbeats took',
    () => gateway.counts.lastFlushMs / 1000,
  )
}

/** What a hub tells of itself. */
export function measureHub(
  metrics: Metrics,
  hub: {
    readonly connections: number
    readonly pendingHandshakes: number
    readonly outboxRelay: { readonly published: number; readonly batches: number }
  },
): void {
  const { gauge, counter } = metrics
  gauge('wheelhouse_hub_sockets', 'Sockets of users connected to this hub', () => hub.connections)
  gauge(
    'wheelhouse_hub_handshakes_pending',
    'Connections to this hub without a valid credential so far',
    () => hub.pendingHandshakes,
  )
  counter(
    'wheelhouse_outbox_relay_events_total',
    'Facts told by this process',
    () => hub.outboxRelay.published,
  )
  counter(
    'wheelhouse_outbox_relay_batches_total',
    'Batches read from the outbox',
    () => hub.outboxRelay.batches,
  )
}
