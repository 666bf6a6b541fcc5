import { createHmac } from 'node:crypto'

/** Credentials of a TURN server are valid for this time. A connection keeps its allocation beyond it. */
const LIFETIME_SECONDS = 6 * 3_600

/** The TURN servers of the installation, and the secret that they share with the platform. */
export interface TurnSettings {
  /** `turn:host:port?transport=udp` and the like. */
  readonly urls: readonly string[]
  readonly secret: string
}

/** A server that helps a client to reach the platform, as browsers expect it. */
export interface IceServer {
  readonly urls: string
  readonly username: string
  readonly credential: string
}

/**
 * Returns the TURN servers with credentials for one client: `<expiry, Unix seconds>:<client id>` and its HMAC-SHA-1 in base64, the
 * scheme of coturn's `use-auth-secret` (draft-uberti-behave-turn-rest-00).
 */
export function iceServersFor(turn: TurnSettings | undefined, clientId: string, now: Date): IceServer[] {
  if (!turn) return []
  const expiresAt = Math.floor(now.getTime() / 1_000) + LIFETIME_SECONDS
  const username = `${expiresAt}:${clientId}`
  const credential = createHmac('sha1', turn.secret).update(username).digest('base64')
  return turn.urls.map((urls) => ({ urls, username, credential }))
}

/** Returns the value of a Link header for a server (RFC 9725, section 4.6). */
export const iceServerLink = ({ urls, username, credential }: IceServer): string =>
  `<${urls}>; rel="ice-server"; username="${username}"; credential="${credential}"; credential-type="password"`
