export * from './audit-chain.ts'
export * from './binary-frames.ts'
export { UNWATCHED_BITS_PER_SECOND } from './camera-bitrate.ts'
export { CAMERA_NAME, MAX_CAMERAS } from './camera-name.ts'
export * from './channel-health.ts'
export * from './close-codes.ts'
export * from './control-lease.ts'
export * from './control-schema.ts'
export * from './data-channel.ts'
export { FIELD_NAME, JSON_SCHEMA_DIALECT, MAX_SCHEMA_CHARS } from './declared-fields.ts'
export * from './driving-frames.ts'
export {
  /** @deprecated Use ObserverFrame. Removed in 0.3. */
  ObserverFrame as WatcherFrame,
  /** @deprecated Use observerFrameTypes. Removed in 0.3. */
  observerFrameTypes as watcherFrameTypes,
  /** @deprecated Use RequestStop. Removed in 0.3. */
  RequestStop as PressStop,
} from './driving-frames.ts'
export * from './episodes.ts'
export * from './error-codes.ts'
export * from './event-texts.ts'
export * from './events.ts'
export * from './examples.ts'
export * from './frame-depth.ts'
export * from './goals.ts'
export * from './hub.ts'
export { MotionLimiter } from './motion-limits.ts'
export * from './notification-groups.ts'
export * from './permissions.ts'
export * from './reason-texts.ts'
export * from './reasons.ts'
export * from './recordings.ts'
export * from './robot-events.ts'
export * from './robot-frames.ts'
export * from './robot-log.ts'
export * from './robot-state.ts'
export * from './rooms.ts'
/** Packets of RTP and RTCP, for programs that send or receive video. */
export * as rtp from './rtp/index.ts'
export * from './speed-limits.ts'
export * from './status.ts'
export * from './status-texts.ts'
export * from './telemetry-schema.ts'
