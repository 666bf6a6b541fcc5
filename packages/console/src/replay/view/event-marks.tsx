import { Tooltip } from '@mantine/core'
import { type KeyboardEvent, useMemo, useRef } from 'react'
import { useStore } from '../../base/store.ts'
import { StateShape } from '../../status/state-label.tsx'
import { t } from '../../texts/texts.ts'
import type { Replay } from '../player/replay.ts'
import { IconBookmark } from './replay-icons.tsx'
import { preciseClock } from './replay-time.ts'
import styles from './timeline.module.css'
import { type Axis, axisOf, type LogEntry, type Tracks } from './tracks.ts'

const NEAR_PX = 14
const MAX_LINES = 4

interface EventMark {
  readonly x: number
  readonly atMs: number
  readonly lines: readonly string[]
  readonly shape: LogEntry['shape'] | undefined
}

/** Marks events, messages and bookmarks on the time axis, each with its words on hover and focus. Arrows move between them. */
export function EventMarks(props: { replay: Replay; tracks: Tracks; width: number }) {
  const { replay, tracks, width } = props
  const range = useStore(replay.view.range)
  const marks = useMemo(() => marksOf(tracks, axisOf(range, width)), [tracks, range, width])
  const row = useRef<HTMLDivElement>(null)
  if (marks.length === 0) return null
  const onKeyDown = (event: KeyboardEvent) => {
    const buttons = [...(row.current?.querySelectorAll('button') ?? [])]
    const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0
    const next = buttons[buttons.indexOf(document.activeElement as HTMLButtonElement) + step]
    if (step === 0 || !next) return
    event.preventDefault()
    next.focus()
  }
  return (
    <div
      className={styles.marks}
      ref={row}
      role="listbox"
      tabIndex={-1}
      aria-orientation="horizontal"
      aria-label={t('replay.tracks.marks')}
      onKeyDown={onKeyDown}
      data-marks
    >
      {marks.map(({ x, atMs, lines, shape }, index) => (
        <Tooltip
          key={`${atMs} ${shape ?? 'bookmark'}`}
          label={lines.join('\n')}
          multiline
          maw={320}
          style={{ whiteSpace: 'pre-line' }}
          events={{ hover: true, focus: true, touch: true }}
        >
          <button
            type="button"
            role="option"
            aria-selected={false}
            className={styles.mark}
            style={{ left: x }}
            // One stop for Tab, however many events there are.
            tabIndex={index === 0 ? 0 : -1}
            aria-label={t('replay.marks.at', {
              time: preciseClock(atMs - replay.startMs),
              event: lines.join(', '),
            })}
            onClick={() => replay.jump(atMs)}
          >
            {shape ? <StateShape name={shape} /> : <IconBookmark size={13} />}
          </button>
        </Tooltip>
      ))}
    </div>
  )
}

/** A state counts before the events around it. */
const weightOf = ({ shape }: EventMark) =>
  shape === undefined ? 2 : shape === 'off' || shape === 'live' ? 0 : 1

function marksOf({ entries, marks }: Tracks, axis: Axis): EventMark[] {
  const mark = (atMs: number, line: string, shape?: LogEntry['shape']): EventMark => ({
    x: axis.xOf(atMs),
    atMs,
    lines: [line],
    shape,
  })
  const all = [
    ...entries.map(({ atMs, text, sender, shape }) =>
      mark(atMs, sender === undefined ? text : t('replay.tip.chat', { sender, text }), shape),
    ),
    ...marks.map(({ atMs, bookmark: { label, user_name: user } }) =>
      mark(atMs, t('replay.tip.bookmark', { label, user })),
    ),
  ]
  const shown: EventMark[] = []
  for (const mark of all.sort((a, b) => a.atMs - b.atMs)) {
    if (mark.x < axis.left - 1 || mark.x > axis.right + 1) continue
    const last = shown.at(-1)
    if (!last || mark.x - last.x >= NEAR_PX) {
      shown.push(mark)
      continue
    }
    const main = weightOf(mark) > weightOf(last) ? { ...mark, x: last.x } : last
    shown[shown.length - 1] = { ...main, lines: linesOf([...last.lines, ...mark.lines]) }
  }
  return shown
}

const linesOf = (lines: readonly string[]): readonly string[] =>
  lines.length <= MAX_LINES ? lines : [...lines.slice(0, MAX_LINES), '…']
