import { useMe } from '../auth/me.ts'
import { StopClearing } from '../session/clear-stop.tsx'
import type { SessionDetail } from '../session/session-query.ts'
import { useStore } from '../ui/store.ts'
import type { Cockpit } from './cockpit.ts'
import type { LatchedStop } from './latched-stop.ts'
import { StopBarView } from './stop-bar-view.tsx'

interface Props {
  readonly cockpit: Cockpit
  readonly session: SessionDetail
  readonly inForce: LatchedStop | undefined
}

/** Shows the stop button, and across the picture the stop in force: who, when and why. */
export function StopBar({ cockpit, session, inForce }: Props) {
  const actorName = useActorName(session)
  const { stop } = session.control
  const isById = inForce && inForce.by !== undefined
  return (
    <StopBarView
      request={useStore(cockpit.stopState)}
      hand={useStore(cockpit.preferences.hand)}
      inForce={
        inForce && {
          actorText: isById ? ` by ${actorName(inForce.by ?? null)}` : byRole(inForce.byRole),
          reason: inForce.reason,
          isRecorded: inForce.recorded,
          at: stop?.at,
          mayClear: stop?.may_clear,
        }
      }
      clearing={inForce && stop && <StopClearing session={session} />}
      onStop={cockpit.stop}
    />
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
