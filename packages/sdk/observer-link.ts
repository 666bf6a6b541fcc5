import { SessionLink } from './session-link.ts'

/** Looks on while a session's robot is driven, and can stop it. */
export class ObserverLink extends SessionLink {}
