import { Badge } from '@mantine/core'
import type { ReactNode } from 'react'
import type { SessionDetail } from '../session/session-query.ts'
import { t } from '../texts/texts.ts'
import { LinkAnchor } from '../ui/links.tsx'
import { type RobotWord, robotWordColors, robotWordTexts } from './cockpit-state.ts'
import type { LinkView } from './operator-connection.ts'
import { SessionTime } from './session-time.tsx'
import styles from './top-bar.module.css'

interface Props {
  readonly session: SessionDetail
  /** The state of the robot. */
  readonly word: RobotWord
  /** Whether nothing has arrived from the gateway for a second, so that the figures are only the last known ones. */
  readonly isSilent?: boolean
  readonly linkPhase: LinkView['phase']
  readonly freshness: ReactNode
  readonly latency: ReactNode
  readonly earnings: ReactNode
  readonly battery: ReactNode
  /** The mark of a session that is recorded. */
  readonly recording?: ReactNode
  /** Whether the viewer watches the session and does not drive. */
  readonly isWatching?: boolean
  /** Instances of `Warning`. Each keeps its place while others come and go. */
  readonly warnings: ReactNode
}

const linkTexts: Record<LinkView['phase'], string> = {
  connecting: t('drive.link.connecting'),
  online: t('drive.link.online'),
  offline: t('drive.link.offline'),
  ended: t('drive.link.ended'),
}

/** Lays out the bar at the upper edge of the picture. */
export const TopBarView = ({
  session,
  word,
  isSilent = false,
  linkPhase,
  isWatching = false,
  ...figures
}: Props) => (
  <header className={styles.topBar}>
    <LinkAnchor
      to="/sessions/$sessionId"
      params={{ sessionId: session.id }}
      className={styles.back}
      aria-label={isWatching ? t('drive.watch.leave') : t('drive.topBar.leave')}
      c="inherit"
    >
      ‹
    </LinkAnchor>
    <h1 className={styles.robotName}>{session.robot_name}</h1>
    {isWatching && (
      <Badge className={styles.mark} color="indigo.9" variant="filled" data-testid="watching">
        {t('drive.watch.mark')}
      </Badge>
    )}
    {figures.recording}
    <section aria-label={t('drive.topBar.status')} className={styles.status}>
      <span className={styles.word} role="status">
        <Badge color={robotWordColors[word]} variant="filled">
          {robotWordTexts[word]}
        </Badge>
      </span>
      <span className={styles.link} role="status">
        {isSilent && linkPhase === 'online' ? t('drive.link.silent') : linkTexts[linkPhase]}
      </span>
      <span className={styles.freshness}>{figures.freshness}</span>
      {figures.latency}
      <SessionTime session={session} />
      {figures.earnings}
      {figures.battery}
      <div className={styles.warnings} role="status">
        {figures.warnings}
      </div>
    </section>
  </header>
)

/** Renders a warning below the top bar, or its empty place. */
export const Warning = ({ text }: { text: string | undefined }) => (
  <div className={styles.warning}>
    {text !== undefined && (
      <Badge color="orange.9" variant="filled">
        {text}
      </Badge>
    )}
  </div>
)
