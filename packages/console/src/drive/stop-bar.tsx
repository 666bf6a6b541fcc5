import { Text } from '@mantine/core'
import { reasonText } from '@wheelhouse/protocol'
import { useMe } from '../auth/me.ts'
import type { LiveSession } from '../live/hooks.ts'
import type { SessionDetail } from '../session/session-query.ts'
import type { StopRequestState } from '../session/stop.ts'
import { messageOf } from '../ui/message-of.ts'
import { useStore } from '../ui/store.ts'
import styles from './cockpit.module.css'
import type { Cockpit } from './cockpit.ts'
import { findLatchedStop, type LatchedStop } from './latched-stop.ts'

interface Props {
  readonly cockpit: Cockpit
  readonly session: SessionDetail
  readonly live: LiveSession
}

/** Shows the stop button and the state of the stop. */
export function StopBar({ cockpit, session, live }: Props) {
  const { operatorConnection } = cockpit
  const link = useStore(operatorConnection.link)
  const state = useStore(operatorConnection.state)
  const view = useStore(cockpit.stopState)
  const inForce = findLatchedStop(link, state, live.events)
  return (
    <section className={styles.stopBar} aria-label="Remote stop" data-stopped={inForce !== undefined}>
      <button type="button" className={styles.stop} onClick={cockpit.stop}>
        STOP
        <span className={styles.keys}>Space or Escape</span>
      </button>
      <div className={styles.stopState} role="status" aria-live="assertive">
        <StopText view={view} inForce={inForce} session={session} />
      </div>
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
    return (
      <Text size="sm">
        <b>Stopped{actorText}:</b> {reasonText(inForce.reason)}
        {inForce.recorded ? '.' : '. In force, saving…'}
      </Text>
    )
  }
  if (view.phase === 'requested') {
    return (
      <Text size="sm">
        <b>Stop requested.</b> Not confirmed yet. Sending on every channel.
      </Text>
    )
  }
  if (view.phase === 'recorded') {
    return (
      <Text size="sm">
        <b>Stopped.</b> The stop is recorded.
      </Text>
    )
  }
  if (view.phase === 'rejected') return <Text size="sm">The stop was rejected: {messageOf(view.error)}</Text>
  return (
    <Text size="sm" c="dimmed" visibleFrom="xs">
      Stops the robot until you clear the stop. The keys work everywhere except in text fields.
    </Text>
  )
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
