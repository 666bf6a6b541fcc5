import { Button, Group, Text } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useMe } from '../auth/me.ts'
import type { LiveSession } from '../live/hooks.ts'
import type { SessionDetail } from '../session/session-query.ts'
import { Problem } from '../ui/states.tsx'
import { useStore } from '../ui/store.ts'
import styles from './cockpit.module.css'
import type { Cockpit } from './cockpit.ts'
import { type StopInForce, stopInForce } from './stop-in-force.ts'
import type { StopView } from './stopper.ts'
import { useAct } from './use-act.ts'

interface Props {
  readonly cockpit: Cockpit
  readonly session: SessionDetail
  readonly live: LiveSession
}

/** The stop, always within reach; what it has done, and the first of the two acts that undo it. */
export function StopBar({ cockpit, session, live }: Props) {
  const { driver, stopper } = cockpit
  const link = useStore(driver.link)
  const state = useStore(driver.state)
  const view = useStore(stopper.view)
  const inForce = stopInForce(link, state, live.events)
  return (
    <section className={styles.stopBar} aria-label="Emergency stop" data-stopped={inForce !== undefined}>
      <button type="button" className={styles.stop} onClick={cockpit.stop}>
        STOP
        <span className={styles.keys}>Space or Escape</span>
      </button>
      <div className={styles.stopState} role="status" aria-live="assertive">
        <StopText view={view} inForce={inForce} session={session} />
      </div>
      {inForce && <ClearButton cockpit={cockpit} session={session} />}
    </section>
  )
}

function StopText(props: { view: StopView; inForce: StopInForce | undefined; session: SessionDetail }) {
  const { view, inForce, session } = props
  const by = useWho(session)
  if (inForce) {
    const who = inForce.by === undefined ? '' : `, by ${by(inForce.by)}`
    return (
      <Text size="sm">
        <b>Stopped:</b> {inForce.reason}
        {who}
        {inForce.recorded ? '.' : '. It holds, but is not recorded yet.'}
      </Text>
    )
  }
  if (view.phase === 'pressed') {
    return (
      <Text size="sm">
        <b>Stop pressed.</b> {view.problem ? 'Not confirmed yet: trying every way.' : 'Waiting for the word.'}
      </Text>
    )
  }
  if (view.phase === 'refused') return <Problem error={view.problem} />
  return (
    <Text size="sm" c="dimmed">
      Stops the robot until the stop is cleared. The keys work everywhere but in text fields.
    </Text>
  )
}

/** Clearing lets nothing move yet: resuming is an act of its own. */
function ClearButton({ cockpit, session }: { cockpit: Cockpit; session: SessionDetail }) {
  const act = useAct(session.id)
  const clear = useMutation({
    mutationFn: () => act('clear_stop'),
    onSuccess: cockpit.stopper.cleared,
  })
  return (
    <Group gap="xs">
      <Button variant="default" loading={clear.isPending} onClick={() => clear.mutate()}>
        Clear the stop
      </Button>
      <Problem error={clear.error} />
    </Group>
  )
}

function useWho(session: SessionDetail): (id: string | null) => string {
  const me = useMe()
  return (id) => {
    if (id === null) return 'the platform'
    if (id === me.id) return 'you'
    return id === session.client_id ? 'the owner' : 'an admin'
  }
}
