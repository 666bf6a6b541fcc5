import { Group } from '@mantine/core'
import type { ChatMessage, SessionLogEvent } from '@wheelhouse/protocol'
import type { Schemas } from '@wheelhouse/sdk'
import type { CSSProperties, ReactNode } from 'react'
import type { LiveSessionState } from '../platform/session-room.ts'
import type { LiveRobot } from '../status/live-robots.tsx'
import styles from './gallery.module.css'

export const doNothing = () => undefined

/** Renders a component of a page, as wide as a column. */
export const Column = ({ children }: { children: ReactNode }) => (
  <div className={styles.surface}>{children}</div>
)

export const shown = (id: string, label: string, content: ReactNode, more?: Options): GalleryState => ({
  id,
  label,
  content,
  ...more,
})

/** Returns a state of a component that is as wide as a column. */
export const inColumn = (id: string, label: string, content: ReactNode): GalleryState =>
  shown(id, label, <Column>{content}</Column>)

/** Returns a state with several components beside each other. */
export const inRow = (id: string, label: string, content: ReactNode): GalleryState =>
  shown(id, label, <Group gap="xs">{content}</Group>)

export const block = (title: string, use: string, ...states: readonly GalleryState[]): GalleryBlock => ({
  title,
  use,
  states,
})

/** Replaces the picture of a camera, with what lies on it. */
export const FakePicture = ({ children, width = 320 }: { children?: ReactNode; width?: number | string }) => (
  <div className={styles.picture} style={{ width, aspectRatio: '16 / 9' }}>
    {children}
  </div>
)

export const PageFrame = ({ height, children }: { height: number; children: ReactNode }) => (
  <div
    className={styles.window}
    style={{ width: 640, height, '--stop-side': '0.5rem', '--stop-bottom': '0.5rem' } as CSSProperties}
  >
    {children}
  </div>
)

type ColorScheme = 'light' | 'dark'

/** One state of a building block. Its address is `gallery.html#id`, and the picture of a test has the same name. */
export interface GalleryState {
  readonly id: string
  readonly label: string
  /** The colour schemes in which it looks different. Default: both. */
  readonly schemes?: readonly ColorScheme[]
  /** Whether its button opens a dialog, which a test photographs. */
  readonly opensDialog?: boolean
  readonly readyText?: string
  readonly content: ReactNode
}

type Options = Pick<GalleryState, 'schemes' | 'opensDialog' | 'readyText'>

export interface GalleryBlock {
  readonly title: string
  readonly use: string
  readonly states: readonly GalleryState[]
}

/** What lies on the picture is dark in both schemes. */
export const ON_PICTURE: Options = { schemes: ['light'] }

const NOW_MS = Date.now()

/** Returns a moment before the page was opened, in ISO 8601. */
export const ago = (seconds: number): string => new Date(NOW_MS - seconds * 1_000).toISOString()

export const OPERATOR_ID = 'd21f6b80-94c3-4e7a-b5d8-0f3a7e62c915'
const OWNER_ID = '7c9a2d54-3e61-4b0f-8d27-5a1c6f9e0b34'
const ROBOT_ID = '0b8f4c1e-6a57-4f0e-9a3d-2c5e7d9b1f42'
const SESSION_ID = 'c4e71a92-58d0-4f3b-a6e9-1d8b7c205f63'

/** An open session, 12:41 after its start, as its operator sees it. */
export const session: Schemas['OperatorSessionDetail'] = {
  id: SESSION_ID,
  status: 'ACTIVE',
  started_at: ago(761),
  ended_at: null,
  duration_minutes: 13,
  client_charge_cents: null,
  rating: null,
  created_at: ago(790),
  robot_id: ROBOT_ID,
  robot_name: 'Ronja',
  robot_type: 'rover-2',
  operator_name: 'Grace',
  operator_earnings_cents: null,
  operator_id: OPERATOR_ID,
  client_id: OWNER_ID,
  rate_cents_per_minute: 50,
  billable_seconds: 761,
  outage_seconds: 0,
  robot_offline_seconds: 0,
  scheduled_for: null,
  planned_minutes: 30,
  planned_end: ago(761 - 30 * 60),
  paused_seconds: 0,
  pause_reason: null,
  ends_at: null,
  rating_comment: null,
  end_reason: null,
  stream_url: null,
  control: { connected: true, operator_joined: true, operator_gone_since: null, stop: null },
  latency: null,
  control_schema: null,
  telemetry_schema: null,
  operator_share_percent: 70,
  earnings_pending_until: null,
}

/** A robot on the wall whose operator drives it. */
export const liveRobot: LiveRobot & { readonly session: NonNullable<LiveRobot['session']> } = {
  id: ROBOT_ID,
  name: 'Ronja',
  robot_type: 'rover-2',
  tags: ['hall 3'],
  state: 'DRIVING',
  on_hold: false,
  stream_url: '',
  camera: null,
  battery: 0.62,
  battery_at: ago(2),
  mode: null,
  last_heartbeat: ago(1),
  session: {
    id: SESSION_ID,
    status: 'ACTIVE',
    started_at: ago(761),
    operator_id: OPERATOR_ID,
    operator_name: 'Grace',
    pause_reason: null,
    paused_at: null,
    ends_at: null,
    stop: null,
    requested_minutes: null,
    asks_for_control: null,
    recording: { mode: 'video', status: 'RECORDING', paused_reason: null },
  },
}

const message = (seq: number, fromOwner: boolean, body: string): SessionLogEvent => {
  const data: ChatMessage = {
    id: `5f0c2a1e-0000-4000-8000-00000000000${seq}`,
    session_id: SESSION_ID,
    seq,
    sender_id: fromOwner ? OWNER_ID : OPERATOR_ID,
    sender_name: fromOwner ? 'Olive' : 'Grace',
    sender_role: fromOwner ? 'client' : 'operator',
    body,
    created_at: ago(120),
  }
  return { session_id: SESSION_ID, seq, type: 'chat.message', data, at: ago(120) }
}

/** The live state of a session with two messages, one of which is typed now and one of which was not sent. */
export const chatting: LiveSessionState = {
  session: undefined,
  events: [message(1, true, 'Mind the cat.'), message(2, false, 'On it')],
  caughtUp: true,
  typing: [{ session_id: SESSION_ID, user_id: OWNER_ID, display_name: 'Olive' }],
  outgoing: [
    {
      clientMessageId: '1',
      body: 'Is the way clear?',
      phase: 'failed',
      error: new Error('the message is too long'),
    },
  ],
  error: undefined,
}
