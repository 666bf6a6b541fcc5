import type { LiveSession } from '../../platform/use-live.ts'
import { AbandonedNotice, ConnectionProblem, lostUntil } from '../../session/notices.tsx'
import type { ObserverConnection, ObserverState } from '../../session/observer-connection.ts'
import type { SessionDetail } from '../../session/session-query.ts'
import { t } from '../../texts/texts.ts'
import styles from '../notices.module.css'
import { Hint, LostHint, SessionNotices } from '../notices.tsx'

interface Props {
  readonly session: SessionDetail
  readonly live: LiveSession
  readonly observerConnection: ObserverConnection
  readonly observerState: ObserverState
}

/** Shows on the picture why the robot does not move, and what the owner decides. Each has its own place, so that nothing moves when one appears. */
export const WatchNotices = ({ session, live, observerConnection, observerState }: Props) => (
  <>
    <div className={styles.middle}>
      <ConnectionProblem
        className={styles.notice}
        observerConnection={observerConnection}
        observerState={observerState}
      />
      <PauseNotice session={session} live={live} observerState={observerState} />
      {session.status === 'PAUSED' && session.control.operator_gone_since !== null && (
        <div className={styles.notice}>
          <AbandonedNotice session={session} />
        </div>
      )}
    </div>
    <SessionNotices session={session} live={live} />
  </>
)

/** Explains how a paused session goes on. A stop has its own banner. */
function PauseNotice({ session, live, observerState }: Pick<Props, 'session' | 'live' | 'observerState'>) {
  const { connection, drive } = observerState
  if (connection !== 'online' || drive === undefined) return null
  if (!drive.robot_connected) {
    return (
      <LostHint
        until={lostUntil(live.events)}
        text={t('drive.watch.robotLost')}
        timed={(time) => t('drive.watch.robotLostUntil', { time })}
      />
    )
  }
  if (drive.status !== 'PAUSED' || drive.stop?.latched || session.control.stop) return null
  return <Hint text={t('session.nextStep.waiting')} />
}
