import type { SessionLogEvent } from '@wheelhouse/protocol'
import { useEffect, useMemo, useRef } from 'react'
import { clockText } from '../base/format.ts'
import { LinkButton } from '../base/links.tsx'
import { useNow } from '../base/time.tsx'
import { useSessionRecording } from '../recording/use-recordings.ts'
import type { StopEntry } from '../replay/data/overview.ts'
import replayStyles from '../replay/view/replay.module.css'
import { drawStates } from '../replay/view/track-drawing.ts'
import { stateSpans } from '../replay/view/tracks.ts'
import styles from '../session/session-page.module.css'
import type { SessionDetail } from '../session/session-query.ts'
import { t } from '../texts/texts.ts'

/** Shows the states of an open session so far, and leads back in its recording. */
export function SessionBand(props: { session: SessionDetail; events: readonly SessionLogEvent[] }) {
  const { session, events } = props
  const canvas = useRef<HTMLCanvasElement>(null)
  const recording = useSessionRecording(session.id).data
  const changes = useMemo(() => changesOf(events), [events])
  const nowMs = useNow()
  const fromMs = Date.parse(session.started_at ?? session.created_at)
  useEffect(() => {
    const range = { fromMs, toMs: Math.max(fromMs + 1, nowMs) }
    if (canvas.current) drawStates(canvas.current, stateSpans(changes, nowMs), range)
  }, [changes, fromMs, nowMs])
  return (
    <section className={styles.band} aria-label={t('session.band.label')}>
      <canvas ref={canvas} className={replayStyles.colors} aria-hidden />
      <span>{t('session.band.soFar', { time: clockText((nowMs - fromMs) / 1_000) })}</span>
      {recording && (
        <LinkButton
          to="/sessions/$sessionId/replay"
          params={{ sessionId: session.id }}
          size="xs"
          variant="default"
        >
          {t('recording.section.scrubBack')}
        </LinkButton>
      )}
    </section>
  )
}

/** Returns the states that follow from a log, as a recording has them. */
function changesOf(events: readonly SessionLogEvent[]): StopEntry[] {
  let state: Omit<StopEntry, 'atMs'> = { status: 'PENDING', isConnected: true, stop: null }
  return events.flatMap(({ type, at, data }) => {
    const before = state
    if (typeof data.status === 'string') state = { ...state, status: data.status }
    if (type === 'session.stopped') state = { ...state, stop: { reason: String(data.reason), latched: true } }
    if (type === 'session.stop_cleared') state = { ...state, stop: null }
    if (type === 'robot.lost' || type === 'robot.back')
      state = { ...state, isConnected: type === 'robot.back' }
    return state === before ? [] : [{ atMs: Date.parse(at), ...state }]
  })
}
