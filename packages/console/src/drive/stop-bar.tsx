import { reasonText } from '@wheelhouse/protocol'
import { useMe } from '../auth/me.ts'
import { StopClearing } from '../session/clear-stop.tsx'
import type { SessionDetail } from '../session/session-query.ts'
import type { StopRequestState } from '../session/stop.ts'
import { timeOfDay } from '../ui/format.ts'
import { messageOf } from '../ui/message-of.ts'
import { useStore } from '../ui/store.ts'
import type { Cockpit } from './cockpit.ts'
import type { LatchedStop } from './latched-stop.ts'
import styles from './stop-bar.module.css'

interface Props {
  readonly cockpit: Cockpit
  readonly session: SessionDetail
  readonly inForce: LatchedStop | undefined
}

/** Shows the stop button, and across the picture the stop in force: who, when and why. */
export function StopBar({ cockpit, session, inForce }: Props) {
  const view = useStore(cockpit.stopState)
  const hand = useStore(cockpit.preferences.hand)
  const isShown = inForce !== undefined || view.phase !== 'none'
  return (
    <section className={styles.stopBar} aria-label="Remote stop" data-hand={hand}>
      <div
        className={styles.banner}
        role="status"
        aria-live="assertive"
        data-shown={isShown}
        data-testid="stop-banner"
      >
        {isShown && <StopText view={view} inForce={inForce} session={session} />}
        {inForce && session.control.stop && (
          <div className={styles.actions}>
            <StopClearing session={session} />
          </div>
        )}
      </div>
      <button
        type="button"
        className={styles.stop}
        data-testid="stop"
        title="Stops the robot until you clear the stop. Escape works everywhere, Space everywhere except in text fields."
        onClick={cockpit.stop}
      >
        STOP
        <span className={styles.keys}>Space or Escape</span>
      </button>
    </section>
  )
}

function StopText(props: {
  view: StopRequestState
  inForce: LatchedStop | undefined
  session: SessionDetail
}) {
  const { view, inForce, session } = props
  const by = useActorName(session)
  if (inForce) {
    const actorText = inForce.by === undefined ? byRole(inForce.byRole) : ` by ${by(inForce.by)}`
    const at = session.control.stop?.at
    return (
      <>
        <p className={styles.text}>
          <b>Stopped{actorText}:</b> {reasonText(inForce.reason)}
          {inForce.recorded ? '.' : '. In force, saving…'}
        </p>
        <p className={styles.next}>
          {at && <time dateTime={at}>{timeOfDay(new Date(at))}</time>} {nextStep(session)}
        </p>
      </>
    )
  }
  if (view.phase === 'requested') {
    return (
      <p className={styles.text}>
        <b>Stop requested.</b> Not confirmed yet. Sending on every channel.
      </p>
    )
  }
  if (view.phase === 'recorded') {
    return (
      <p className={styles.text}>
        <b>Stopped.</b> The stop is recorded.
      </p>
    )
  }
  if (view.phase === 'rejected')
    return <p className={styles.text}>The stop was rejected: {messageOf(view.error)}</p>
  return null
}

function nextStep({ control: { stop } }: SessionDetail): string {
  if (stop?.may_clear === false) return 'Only the owner or an admin can clear this stop.'
  return stop ? 'Clear the stop when the area is clear, then resume.' : ''
}

function byRole(role: LatchedStop['byRole']): string {
  if (!role) return ''
  return { client: ' by the owner', operator: ' by you', admin: ' by an admin' }[role]
}

function useActorName(session: SessionDetail): (id: string | null) => string {
  const me = useMe()
  return (id) => {
    if (id === null) return 'the platform'
    if (id === me.id) return 'you'
    return id === session.client_id ? 'the owner' : 'an admin'
  }
}
