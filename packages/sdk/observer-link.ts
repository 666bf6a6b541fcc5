import { SessionLink } from './session-link.ts'

/** Connects an observer: receives the state and telemetry of a session's robot, and can stop it. */
export class ObserverLink extends SessionLink {}
