import { ReleaseRobot } from '../../session/notices.tsx'
import type { SessionDetail } from '../../session/session-query.ts'
import { useSessionAction } from '../../session/session-query.ts'
import { t } from '../../texts/texts.ts'
import { HudButton } from '../../ui/hud-button.tsx'
import { messageOf } from '../../ui/message-of.ts'
import styles from '../bottom-bar.module.css'
import { Tools } from '../bottom-bar.tsx'
import type { Hud } from '../hud.ts'
import type { HudAction } from '../hud-keys.ts'

interface Props {
  readonly session: SessionDetail
  readonly hasEpisodes: boolean
  readonly hud: Hud
  readonly perform: (action: HudAction) => void
  /** Shows the picture in a floating window; undefined if the browser cannot. */
  readonly onFloat: (() => void) | undefined
}

/** Shows the actions of an owner or an admin on the session, and the tools of the view. Only the operator resumes. */
export function WatchBar({ session, hasEpisodes, hud, perform, onFloat }: Props) {
  const action = useSessionAction(session.id)
  return (
    <footer className={styles.bottomBar}>
      <HudButton
        data-testid="pause"
        className={styles.pause}
        disabled={action.isPending || session.status === 'PAUSED'}
        onClick={() => action.mutate('pause')}
      >
        {t('drive.bar.pause')}
      </HudButton>
      <ReleaseRobot className={styles.end} sessionId={session.id} robotName={session.robot_name}>
        {t('drive.watch.release')}
      </ReleaseRobot>
      {action.error && (
        <span className={styles.problem} role="alert">
          {messageOf(action.error)}
        </span>
      )}
      <span className={styles.gamepad} />
      <Tools
        hasInputs={false}
        hasEpisodes={hasEpisodes}
        hud={hud}
        perform={perform}
        onFloat={onFloat}
        isWatching
      />
    </footer>
  )
}
