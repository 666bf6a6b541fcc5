import { useMe } from '../platform/platform.ts'
import { StopClearing } from '../session/clear-stop.tsx'
import type { SessionDetail } from '../session/session-query.ts'
import type { StopControl } from '../session/stop.ts'
import { t } from '../texts/texts.ts'
import { type Store, useStore } from '../ui/store.ts'
import type { LatchedStop } from './latched-stop.ts'
import type { Hand } from './preferences.ts'
import { StopBarView } from './stop-bar-view.tsx'

interface Props {
  /** The state of the stop that was requested on this page. */
  readonly state: StopControl['state']
  readonly hand: Store<Hand>
  readonly session: SessionDetail
  readonly inForce: LatchedStop | undefined
  /** Whether the viewer watches the session and does not drive. */
  readonly isWatching?: boolean
  readonly onStop: () => void
}

/** Shows the stop button, and across the picture the stop in force: who, when and why. */
export function StopBar({ state, hand, session, inForce, isWatching = false, onStop }: Props) {
  const meId = useMe().id
  const { stop } = session.control
  return (
    <StopBarView
      request={useStore(state)}
      hand={useStore(hand)}
      isWatching={isWatching}
      inForce={
        inForce && {
          actorText: actorText(inForce, session, meId),
          reason: inForce.reason,
          isRecorded: inForce.recorded,
          at: stop?.at,
          mayClear: stop?.may_clear,
        }
      }
      clearing={inForce && stop && <StopClearing session={session} />}
      onStop={onStop}
    />
  )
}

/** Returns who requested a stop: by the user if known, otherwise by the role. */
function actorText({ by, byRole }: LatchedStop, session: SessionDetail, meId: string): string {
  if (by === null) return t('drive.stop.byPlatform')
  if (by === undefined && !byRole) return ''
  const { client_id: ownerId, operator_id: operatorId } = session
  const id = by ?? (byRole === 'client' ? ownerId : byRole === 'operator' ? operatorId : undefined)
  if (id === meId) return t('drive.stop.byYou')
  if (id === ownerId) return t('drive.stop.byOwner')
  return id === operatorId ? t('drive.stop.byOperator') : t('drive.stop.byAdmin')
}
