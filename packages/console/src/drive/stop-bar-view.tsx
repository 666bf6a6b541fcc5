import { reasonText } from '@wheelhouse/protocol'
import type { ReactNode } from 'react'
import type { StopRequestState } from '../session/stop.ts'
import { timeOfDay } from '../ui/format.ts'
import { messageOf } from '../ui/message-of.ts'
import type { Hand } from './preferences.ts'
import styles from './stop-bar.module.css'

/** The stop in force, as the operator reads it. */
export interface ShownStop {
  /** Such as " by the owner"; empty if unknown. */
  readonly actorText: string
  readonly reason: string
  readonly isRecorded: boolean
  /** In ISO 8601; undefined until the session contains it. */
  readonly at: string | undefined
  /** Whether the operator may clear it; undefined until the session contains it. */
  readonly mayClear: boolean | undefined
}

interface Props {
  /** The state of the stop that was requested on this page. */
  readonly request: StopRequestState
  readonly inForce: ShownStop | undefined
  /** The hand that holds the stick on a phone. */
  readonly hand: Hand
  /** The button that clears the stop, or asks for that. */
  readonly clearing: ReactNode
  readonly onStop: () => void
}

/** Renders the stop button, and across the picture the banner of a stop. */
export function StopBarView({ request, inForce, hand, clearing, onStop }: Props) {
  const isShown = inForce !== undefined || request.phase !== 'none'
  return (
    <section className={styles.stopBar} aria-label="Remote stop" data-hand={hand}>
      <div
        className={styles.banner}
        role="status"
        aria-live="assertive"
        data-shown={isShown}
        data-testid="stop-banner"
      >
        {inForce ? <StopInForce stop={inForce} /> : <p className={styles.text}>{requestText(request)}</p>}
        {clearing && <div className={styles.actions}>{clearing}</div>}
      </div>
      <button
        type="button"
        className={styles.stop}
        data-testid="stop"
        title="Stops the robot until you clear the stop. Escape works everywhere, Space everywhere except in text fields."
        onClick={onStop}
      >
        STOP
        <span className={styles.keys}>Space or Escape</span>
      </button>
    </section>
  )
}

const StopInForce = ({ stop: { actorText, reason, isRecorded, at, mayClear } }: { stop: ShownStop }) => (
  <>
    <p className={styles.text}>
      <b>Stopped{actorText}:</b> {reasonText(reason)}
      {isRecorded ? '.' : '. In force, saving…'}
    </p>
    <p className={styles.next}>
      {at && <time dateTime={at}>{timeOfDay(new Date(at))}</time>} {nextStep(mayClear)}
    </p>
  </>
)

function nextStep(mayClear: boolean | undefined): string {
  if (mayClear === undefined) return ''
  return mayClear
    ? 'Clear the stop when the area is clear, then resume.'
    : 'Only the owner or an admin can clear this stop.'
}

function requestText(request: StopRequestState): ReactNode {
  switch (request.phase) {
    case 'none':
      return null
    case 'requested':
      return (
        <>
          <b>Stop requested.</b> Not confirmed yet. Sending on every channel.
        </>
      )
    case 'recorded':
      return (
        <>
          <b>Stopped.</b> The stop is recorded.
        </>
      )
    case 'rejected':
      return `The stop was rejected: ${messageOf(request.error)}`
  }
}
