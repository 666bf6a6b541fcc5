import { notifications as toasts } from '@mantine/notifications'
import type { NotificationEvent } from '@wheelhouse/protocol'
import { useCallback, useEffect, useState } from 'react'
import { type NotificationText, useNewNotifications } from '../notifications/use-new-notifications.ts'
import styles from './notices.module.css'

const SHOWN_MS = 8_000

/**
 * Shows new notifications in one line. Those of this session are omitted, because the cockpit shows what they say. No
 * pop-up may cover an instrument.
 */
export function Ticker({ sessionId }: { sessionId: string }) {
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
