import { Badge } from '@mantine/core'
import type { ReactNode } from 'react'
import type { SessionDetail } from '../session/session-query.ts'
import { LinkAnchor } from '../ui/links.tsx'
import { type RobotWord, robotWordColors } from './cockpit-state.ts'
import type { LinkView } from './operator-connection.ts'
import { Earnings, SessionTime } from './session-time.tsx'
import styles from './top-bar.module.css'

interface Props {
  readonly session: SessionDetail
  /** When the session was loaded, in Unix milliseconds. */
  readonly fetchedAtMs: number
  /** The state of the robot. */
  readonly word: RobotWord
  readonly linkPhase: LinkView['phase']
  readonly freshness: ReactNode
  readonly latency: ReactNode
  readonly battery: ReactNode
  /** Instances of `Warning`. */
  readonly warnings: ReactNode
}

const linkTexts: Record<LinkView['phase'], string> = {
  connecting: 'Connecting',
  online: 'Connected',
  offline: 'Reconnecting',
  ended: 'Disconnected',
}

/** Lays out the bar at the upper edge of the picture. */
export const TopBarView = ({ session, fetchedAtMs, word, linkPhase, ...figures }: Props) => (
  <header className={styles.topBar}>
    <LinkAnchor
      to="/sessions/$sessionId"
      params={{ sessionId: session.id }}
      className={styles.back}
      aria-label="Leave cockpit"
      c="inherit"
    >
      ‹
    </LinkAnchor>
    <h1 className={styles.robotName}>{session.robot_name}</h1>
    <section aria-label="Status" className={styles.status}>
      <span className={styles.word} role="status">
        <Badge color={robotWordColors[word]} variant="filled">
          {word}
        </Badge>
      </span>
      <span className={styles.link} role="status">
        {linkTexts[linkPhase]}
      </span>
      <span className={styles.freshness}>{figures.freshness}</span>
      {figures.latency}
      <SessionTime session={session} />
      <Earnings session={session} fetchedAtMs={fetchedAtMs} />
      {figures.battery}
      <div className={styles.warnings} role="status">
        {figures.warnings}
      </div>
    </section>
  </header>
)

/** Renders a warning below the top bar. */
export const Warning = ({ text }: { text: string }) => (
  <Badge color="orange.9" variant="filled">
    {text}
  </Badge>
)
