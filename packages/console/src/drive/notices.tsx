import { Alert, Button, Group, Text } from '@mantine/core'
import { notifications as toasts } from '@mantine/notifications'
import { closeCodes, type NotificationEvent } from '@wheelhouse/protocol'
import type { LinkEnd } from '@wheelhouse/sdk'
import { useCallback, useEffect, useState } from 'react'
import { clockText } from '../base/format.ts'
import { useStore } from '../base/store.ts'
import { useNow } from '../base/time.tsx'
import { type NotificationText, useNewNotifications } from '../notifications/use-notifications.ts'
import type { LiveSession } from '../platform/use-live.ts'
import { ExtensionPanel, newestExtension } from '../session/extension-panel.tsx'
import { lostUntil } from '../session/notices.tsx'
import type { SessionDetail } from '../session/session-query.ts'
import { closeText } from '../texts/code-texts.ts'
import { t } from '../texts/texts.ts'
import type { Cockpit } from './cockpit.ts'
import styles from './notices.module.css'
import type { LinkView, OperatorConnection } from './operator-connection.ts'

const SHOWN_MS = 8_000

/**
 * Shows new notifications in one line. Those of this session are omitted, because the cockpit shows what they say. No
 * pop-up may cover an instrument.
 */
function Ticker({ sessionId }: { sessionId: string }) {
  const [shown, setShown] = useState<{ id: string; text: string }>()
  const show = useCallback(
    ({ id }: NotificationEvent, { title, detail, sessionId: about }: NotificationText) => {
      if (about !== sessionId) setShown({ id, text: detail ? `${title} · ${detail}` : title })
    },
    [sessionId],
  )
  useNewNotifications(show)
  useEffect(() => {
    toasts.clean()
  }, [])
  useEffect(() => {
    if (!shown) return
    const timer = setTimeout(() => setShown(undefined), SHOWN_MS)
    return () => clearTimeout(timer)
  }, [shown])
  return (
    <p className={styles.ticker} role="status" data-testid="ticker">
      {shown?.text}
    </p>
  )
}

interface Props {
  readonly cockpit: Cockpit
  readonly session: SessionDetail
  readonly live: LiveSession
}

/** Shows on the picture what the operator must do or wait for. Each has its own place, so that nothing moves when one appears. */
export const Notices = ({ cockpit, session, live }: Props) => (
  <>
    <div className={styles.middle}>
      <Connection operatorConnection={cockpit.operatorConnection} />
      <PauseNotice operatorConnection={cockpit.operatorConnection} session={session} live={live} />
      {hasNoControls(cockpit) && <Hint text={t('drive.notice.noControls')} />}
    </div>
    <SessionNotices session={session} live={live} />
  </>
)

/** Shows a request to extend the session, and what happens in it. */
export const SessionNotices = ({ session, live }: Pick<Props, 'session' | 'live'>) => (
  <>
    {newestExtension(live.events)?.status === 'pending' && (
      <div className={styles.low}>
        <section className={styles.notice} aria-label={t('drive.notice.extension')}>
          <ExtensionPanel live={live} />
        </section>
      </div>
    )}
    <div className={styles.high}>
      <Ticker sessionId={session.id} />
    </div>
  </>
)

const hasNoControls = ({ plan }: Cockpit) =>
  !plan.drives && plan.inputs.length === 0 && plan.speeds.length === 0

/** Explains how a paused session goes on. A stop has its own banner. */
function PauseNotice({ operatorConnection, session, live }: Pick<Props, 'session' | 'live'> & LinkProps) {
  const isOnline = useStore(operatorConnection.link).phase === 'online'
  const state = useStore(operatorConnection.state)
  if (!isOnline || state === null) return null
  if (!state.robot_connected) {
    return (
      <LostHint
        until={lostUntil(live.events)}
        text={t('drive.notice.robotLost')}
        timed={(time) => t('drive.notice.robotLostUntil', { time })}
      />
    )
  }
  if (state.status !== 'PAUSED' || state.stop?.latched || session.control.stop) return null
  return <Hint text={t('drive.notice.paused')} />
}

/** Says that the robot is lost and, once that is known, how long the session waits for it. */
export function LostHint(props: {
  /** In Unix milliseconds. */
  until: number | undefined
  text: string
  timed: (time: string) => string
}) {
  const nowMs = useNow()
  const { until, text, timed } = props
  return <Hint text={until === undefined ? text : timed(clockText(Math.max(0, until - nowMs) / 1_000))} />
}

/** Renders one line that says how to go on. */
export const Hint = ({ text }: { text: string }) => <p className={styles.hint}>{text}</p>

interface LinkProps {
  readonly operatorConnection: OperatorConnection
}

const Connection = ({ operatorConnection }: LinkProps) => (
  <LinkNotice link={useStore(operatorConnection.link)} onTakeOver={operatorConnection.takeOver} />
)

/** Explains a missing connection to the robot and offers to reconnect. Renders nothing while online. */
export function LinkNotice({ link, onTakeOver }: { link: LinkView; onTakeOver: () => void }) {
  const { phase, problem, end } = link
  if (phase === 'online') return null
  if (phase === 'ended') return <Ended end={end} onTakeOver={onTakeOver} />
  const title = phase === 'connecting' ? t('drive.notice.connecting') : t('drive.notice.lost')
  return (
    <Alert color="orange.9" variant="outline" title={title} role="status" className={styles.notice}>
      <Text size="sm">{phase === 'offline' ? offlineText(problem) : problem}</Text>
    </Alert>
  )
}

const offlineText = (problem: string | undefined) =>
  problem ? t('drive.notice.lostBecause', { problem }) : t('drive.notice.lostText')

function Ended({ end, onTakeOver }: { end: LinkEnd | undefined; onTakeOver: () => void }) {
  const replaced = end?.closeCode === closeCodes.replaced.code
  return (
    <Alert
      color="red"
      variant="outline"
      role="alert"
      title={replaced ? t('drive.notice.replaced') : t('drive.notice.ended')}
      className={styles.notice}
    >
      <Group justify="space-between">
        <Text size="sm">
          {replaced ? t('drive.notice.replacedText') : (closeText(end?.closeCode) ?? end?.reason)}
        </Text>
        <Button variant="default" onClick={onTakeOver}>
          {replaced ? t('drive.notice.takeControl') : t('drive.notice.reconnect')}
        </Button>
      </Group>
    </Alert>
  )
}
