import { Badge } from '@mantine/core'
import { speedLimitText } from '@wheelhouse/protocol'
import type { CongestionCause } from '@wheelhouse/sdk'
import { ConnectionBadge } from '../live/connection-badge.tsx'
import { FreshnessBadge } from '../live/freshness-badge.tsx'
import type { ReadAges } from '../live/freshness-sampler.ts'
import { useConnection } from '../live/hooks.ts'
import { useFreshness } from '../live/use-freshness.ts'
import type { SessionDetail } from '../session/session-query.ts'
import { LinkAnchor } from '../ui/links.tsx'
import { useStore } from '../ui/store.ts'
import { Battery } from './battery.tsx'
import type { Cockpit } from './cockpit.ts'
import { robotWord, robotWordColors } from './cockpit-state.ts'
import { Latency } from './latency.tsx'
import type { LinkView } from './operator-connection.ts'
import { Earnings, SessionTime } from './session-time.tsx'
import styles from './top-bar.module.css'

interface Props {
  readonly cockpit: Cockpit
  readonly session: SessionDetail
  /** When the session was loaded, in Unix milliseconds. */
  readonly fetchedAtMs: number
  readonly readAges: ReadAges
}

const linkTexts: Record<LinkView['phase'], string> = {
  connecting: 'Connecting',
  online: 'Connected',
  offline: 'Reconnecting',
  ended: 'Disconnected',
}

const congestionTexts: Record<CongestionCause, string> = {
  unsent_bytes: 'Connection congested: commands wait to be sent',
  latency: 'Connection congested: answers take longer than usual',
  unanswered: 'Connection congested: no answer',
}

/** Shows what the operator must know at a glance: state, freshness, latency, time, earnings, battery, and warnings. */
export function TopBar({ cockpit, session, fetchedAtMs, readAges }: Props) {
  const { operatorConnection } = cockpit
  const link = useStore(operatorConnection.link)
  const state = useStore(operatorConnection.state)
  const word = robotWord(link, state, {
    status: session.status,
    isStopped: session.control.stop !== null,
  })
  return (
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
          {linkTexts[link.phase]}
        </span>
        <Freshness readAges={readAges} />
        <Latency operatorConnection={operatorConnection} />
        <SessionTime session={session} />
        <Earnings session={session} fetchedAtMs={fetchedAtMs} />
        <Battery operatorConnection={operatorConnection} />
        <Warnings cockpit={cockpit} />
      </section>
    </header>
  )
}

const Freshness = ({ readAges }: { readAges: ReadAges }) => (
  <span className={styles.freshness}>
    <FreshnessBadge freshness={useFreshness(readAges)} />
  </span>
)

/** Shows what slows the robot down, and an outage of the hub. */
function Warnings({ cockpit: { operatorConnection } }: { cockpit: Cockpit }) {
  const isOnline = useStore(operatorConnection.link).phase === 'online'
  const limitText = speedLimitText(useStore(operatorConnection.limits))
  const { cause, maxRateHz } = useStore(operatorConnection.congestion)
  const hub = useConnection()
  const rateText = maxRateHz === null ? '' : `, ${maxRateHz} commands a second`
  return (
    <div className={styles.warnings} role="status">
      {isOnline && limitText && (
        <Badge color="orange.9" variant="filled">
          {limitText}
        </Badge>
      )}
      {isOnline && cause && (
        <Badge color="orange.9" variant="filled">
          {`${congestionTexts[cause]}${rateText}`}
        </Badge>
      )}
      {hub !== 'live' && <ConnectionBadge />}
    </div>
  )
}
