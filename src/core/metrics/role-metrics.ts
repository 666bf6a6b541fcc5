import type { Metrics } from './metrics.ts'

/** Declares the metrics of a gateway. They are read at each scrape. */
export function measureGateway(
  metrics: Metrics,
  gateway: {
    readonly connections: number
    readonly participants: number
    readonly sessions: number
    readonly limitedSessions: number
    readonly counts: Readonly<
      Record<
        | ('frames' | 'framesRefused' | 'logLines' | 'logLinesDropped')
        | ('heartbeats' | 'heartbeatsCoalesced' | 'heartbeatsWritten' | 'lastFlushMs')
        | ('passed' | 'dropped' | 'videoStale' | 'limited' | 'deadman' | 'stops' | 'ticketsRefused'),
        number
      >
    >
  },
): void {
  const { gauge, counter } = metrics
  gauge('wheelhouse_gateway_robots', 'Robots connected to this gateway', () => gateway.connections)
  counter('wheelhouse_gateway_frames_total', 'Frames received from robots', () => gateway.counts.frames)
  counter(
    'wheelhouse_gateway_frames_refused_total',
    'Frames refused because the gateway was busy and their account had used its share',
    () => gateway.counts.framesRefused,
  )
  counter('wheelhouse_robot_log_lines_total', 'Robot log lines persisted', () => gateway.counts.logLines)
  counter(
    'wheelhouse_robot_log_lines_dropped_total',
    'Robot log lines dropped because of the rate limit or a long database outage',
    () => gateway.counts.logLinesDropped,
  )
  gauge('wheelhouse_gateway_participants', 'Operators and observers connected', () => gateway.participants)
  gauge(
    'wheelhouse_gateway_sessions',
    'Open sessions of robots connected to this gateway',
    () => gateway.sessions,
  )
  gauge(
    'wheelhouse_gateway_sessions_limited',
    'Sessions in which the latency limits the speed of the robot',
    () => gateway.limitedSessions,
  )
  const controlCounters = {
    passed: ['wheelhouse_control_relayed_total', 'Control frames relayed to a robot'],
    dropped: ['wheelhouse_control_dropped_total', 'Control frames rejected, for any reason'],
    videoStale: [
      'wheelhouse_control_video_stale_total',
      "Control frames rejected because the operator's picture was too old",
    ],
    limited: ['wheelhouse_control_limited_total', 'Control frames whose speed the gateway reduced'],
    deadman: [
      'wheelhouse_deadman_stops_total',
      'Robots stopped by the deadman because no control frame arrived',
    ],
    stops: ['wheelhouse_stops_total', 'Remote stops applied before the database recorded them'],
    ticketsRefused: [
      'wheelhouse_gateway_tickets_refused_total',
      'Tickets rejected because their key, permissions or control lease had ended',
    ],
  } as const
  for (const [count, [name, help]] of Object.entries(controlCounters)) {
    counter(name, help, () => gateway.counts[count as keyof typeof controlCounters])
  }
  counter('wheelhouse_heartbeats_total', 'Heartbeats received', () => gateway.counts.heartbeats)
  counter(
    'wheelhouse_heartbeats_coalesced_total',
    'Heartbeats answered together with a newer one of the same robot, because there were too many',
    () => gateway.counts.heartbeatsCoalesced,
  )
  counter(
    'wheelhouse_heartbeats_written_total',
    'Heartbeats written, at most one per second and robot',
    () => gateway.counts.heartbeatsWritten,
  )
  gauge(
    'wheelhouse_heartbeat_flush_seconds',
    'Duration of the last statement that wrote heartbeats',
    () => gateway.counts.lastFlushMs / 1000,
  )
}

/** Declares the metrics of a hub. */
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
    'Connections to this hub that have not authenticated yet',
    () => hub.pendingHandshakes,
  )
  counter(
    'wheelhouse_outbox_relay_events_total',
    'Domain events published by this process',
    () => hub.outboxRelay.published,
  )
  counter(
    'wheelhouse_outbox_relay_batches_total',
    'Batches read from the outbox',
    () => hub.outboxRelay.batches,
  )
}

/** Declares the metrics of a media role. */
export function measureMedia(
  metrics: Metrics,
  media: {
    readonly cameras: number
    readonly publishers: number
    readonly viewers: number
    /** Video that arrives from all cameras. */
    readonly bitsPerSecond: number
    readonly counts: Readonly<Record<'offersRefused' | 'processEnds', number>>
    readonly recording: Readonly<Record<'sent' | 'leftOut' | 'reconnects', number>>
  },
): void {
  const { gauge, counter } = metrics
  gauge('wheelhouse_media_cameras', 'Cameras that send to this process', () => media.cameras)
  gauge(
    'wheelhouse_media_publishers',
    'Publishers of cameras connected to this process',
    () => media.publishers,
  )
  gauge('wheelhouse_media_viewers', 'Viewers of cameras connected to this process', () => media.viewers)
  gauge(
    'wheelhouse_media_received_bits_per_second',
    'Bits per second that arrive from all cameras of this process',
    () => media.bitsPerSecond,
  )
  counter(
    'wheelhouse_media_offers_refused_total',
    'Offers to publish or view a camera that were refused, for any reason',
    () => media.counts.offersRefused,
  )
  counter(
    'wheelhouse_media_process_ends_total',
    'Unexpected ends of the process that forwards video',
    () => media.counts.processEnds,
  )
  counter(
    'wheelhouse_media_records_sent_total',
    'Frames of recorded cameras that were sent to recorders',
    () => media.recording.sent,
  )
  counter(
    'wheelhouse_media_records_left_out_total',
    'Frames of recorded cameras that were left out, because the recorders were away or did not keep up',
    () => media.recording.leftOut,
  )
}

/** Declares the metrics of a recorder. */
export function measureRecorder(
  metrics: Metrics,
  recorder: {
    figures(): Readonly<
      Record<
        'sources' | 'streams' | 'samples' | 'bytes' | 'segments' | 'failures' | 'gaps' | 'liveReaders',
        number
      >
    >
  },
): void {
  const { gauge, counter } = metrics
  const figures = () => recorder.figures()
  gauge(
    'wheelhouse_recorder_sources',
    'Gateways and media roles connected to this recorder',
    () => figures().sources,
  )
  gauge('wheelhouse_recorder_streams', 'Streams that this recorder receives', () => figures().streams)
  gauge('wheelhouse_recorder_live_readers', 'Live readers of sessions', () => figures().liveReaders)
  counter('wheelhouse_recorder_records_total', 'Records received', () => figures().samples)
  counter('wheelhouse_recorder_bytes_total', 'Bytes received', () => figures().bytes)
  counter('wheelhouse_recorder_segments_total', 'Segments stored', () => figures().segments)
  counter('wheelhouse_recorder_gaps_total', 'Periods that recordings lack', () => figures().gaps)
  counter(
    'wheelhouse_recorder_interruptions_total',
    'Interruptions of recordings because the storage failed',
    () => figures().failures,
  )
}
