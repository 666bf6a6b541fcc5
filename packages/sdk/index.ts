// Protocol types in the signatures of this package, so that its users do not need to install the protocol package.
export type {
  Autonomy,
  AutonomyMode,
  BinaryHeader,
  ChatMessage,
  Control,
  ControlSchema,
  DriveBattery,
  DriveLatency,
  DriveLog,
  DriveState as SessionLinkState,
  DropReason,
  GoalState,
  GoalStatus,
  LeaseFrame,
  NotificationEvent,
  NotificationReadEvent,
  RobotLogLevel,
  RobotSession,
  RobotStatus,
  RobotStatusEvent,
  SessionAction,
  SessionLogEvent,
  SessionStatus,
  SpeedLimits,
  TelemetrySchema,
  TypingEvent,
  WatchedSession,
  Welcome,
} from '@wheelhouse/protocol'
export * from './backoff.ts'
export type { CameraOptions, CameraState } from './camera/camera-options.ts'
export type { CameraCodec } from './camera/packetizer.ts'
export { canPublishCameras, PublishedCamera } from './camera/published-camera.ts'
export { type Congestion, type CongestionCause, NO_CONGESTION } from './congestion.ts'
export type { ConnectionState, LinkEnd, LinkPhase } from './connection-lifecycle.ts'
export * from './differential-drive.ts'
export {
  /** @deprecated Use isHalted. Removed in 0.3. */
  isHalted as isStanding,
} from './differential-drive.ts'
export * from './drive-pilot.ts'
export type { EpisodeReport } from './episode-outbox.ts'
export * from './errors.ts'
export * from './hub-client.ts'
export type { LinkLatency } from './link-latency.ts'
export type {
  StandardWebSocketConstructor,
  WebSocketConstructor,
  WebSocketLike,
  WebSocketSettings,
} from './link-socket.ts'
export * from './observer-link.ts'
export {
  /** @deprecated Use ObserverLink. Removed in 0.3. */
  ObserverLink as WatcherLink,
} from './observer-link.ts'
export * from './operator-link.ts'
export * from './policy-link.ts'
export * from './pose-prediction.ts'
export * from './rest-client.ts'
export * from './rest-pages.ts'
export { type RetryOptions, retrying } from './rest-retry.ts'
export * from './robot-link.ts'
export * from './robot-link-options.ts'
export type { RobotsUpdate } from './robot-status-feed.ts'
export type * from './session-link-options.ts'
export type {
  /** @deprecated Use ObserverLinkOptions. Removed in 0.3. */
  ObserverLinkOptions as WatcherLinkOptions,
} from './session-link-options.ts'
export type { WatchHandlers } from './session-watches.ts'
export * from './simulated-robot.ts'
export * from './tickets.ts'
export type { UnreadUpdate } from './unread-count.ts'
export * from './urdf.ts'
export * from './world.ts'
