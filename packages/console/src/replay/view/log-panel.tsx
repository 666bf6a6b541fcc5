import { TextInput, UnstyledButton } from '@mantine/core'
import { useVirtualizer } from '@tanstack/react-virtual'
import { useEffect, useMemo, useRef, useState } from 'react'
import { t } from '../../texts/texts.ts'
import type { Replay } from '../player/replay.ts'
import type { LogEntry } from './log-entries.ts'
import styles from './replay.module.css'
import { preciseClock } from './replay-time.ts'
import { usePosition } from './use-position.ts'

const ROW_PX = 28

interface Props {
  readonly replay: Replay
  readonly startMs: number
  readonly entries: readonly LogEntry[]
}

/** Lists events and messages. The last one before the position is marked and in view; a click jumps to one. */
export function LogPanel({ replay, startMs, entries }: Props) {
  const [search, setSearch] = useState('')
  const found = useMemo(() => {
    const wanted = search.trim().toLowerCase()
    const matches = ({ text, sender = '' }: LogEntry) => `${sender} ${text}`.toLowerCase().includes(wanted)
    return wanted === '' ? entries : entries.filter(matches)
  }, [entries, search])
  const viewport = useRef<HTMLDivElement>(null)
  const rows = useVirtualizer({
    count: found.length,
    getScrollElement: () => viewport.current,
    estimateSize: () => ROW_PX,
    overscan: 12,
  })
  const atMs = usePosition(replay)
  const current = found.findLastIndex((entry) => entry.atMs <= atMs)
  useEffect(() => {
    if (current >= 0) rows.scrollToIndex(current, { align: 'auto' })
  }, [current, rows])
  return (
    <div className={styles.log}>
      <TextInput
        size="xs"
        aria-label={t('replay.log.search')}
        placeholder={t('replay.log.search')}
        value={search}
        onChange={({ currentTarget: { value } }) => setSearch(value)}
      />
      <div className={styles.logRows} ref={viewport} data-testid="log">
        {found.length === 0 && <p className={styles.empty}>{t('replay.log.empty')}</p>}
        <div style={{ height: rows.getTotalSize(), position: 'relative' }}>
          {rows.getVirtualItems().map(({ index, key, start }) => {
            const entry = found[index]
            return (
              entry && (
                <UnstyledButton
                  key={key}
                  ref={rows.measureElement}
                  data-index={index}
                  className={styles.logRow}
                  style={{ transform: `translateY(${start}px)` }}
                  data-kind={entry.kind}
                  aria-current={index === current ? 'true' : undefined}
                  onClick={() => replay.jump(entry.atMs)}
                >
                  <time>{preciseClock(entry.atMs - startMs)}</time>
                  <span>
                    {entry.sender !== undefined && <b>{entry.sender}: </b>}
                    {entry.text}
                  </span>
                </UnstyledButton>
              )
            )
          })}
        </div>
      </div>
    </div>
  )
}
