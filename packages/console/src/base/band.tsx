import styles from './band.module.css'

/** What a robot did for a while. The states differ by pattern, not by colour only. */
export type BandState = 'DRIVING' | 'PAUSED' | 'STOPPED' | 'READY' | 'OFFLINE'

export interface BandPart {
  readonly state: BandState
  readonly fromMs: number
  readonly toMs: number
}

/** Draws times on a line. Times outside of it are cut off. @param props.nowMs draws a mark for now */
export function Band(props: {
  readonly label: string
  readonly fromMs: number
  readonly toMs: number
  readonly parts: readonly BandPart[]
  readonly nowMs?: number
  readonly isTall?: boolean
}) {
  const { label, fromMs, toMs, parts, nowMs, isTall = false } = props
  const percentAt = (ms: number) => Math.max(0, Math.min(100, ((ms - fromMs) / (toMs - fromMs)) * 100))
  return (
    <div className={styles.band} role="img" aria-label={label} data-tall={isTall}>
      {parts
        .filter((part) => part.toMs > fromMs && part.fromMs < toMs)
        .map((part) => {
          const left = percentAt(part.fromMs)
          const width = percentAt(part.toMs) - left
          return (
            <i
              key={`${part.fromMs} ${part.state}`}
              data-state={part.state}
              style={{ left: `${left}%`, width: `${width}%` }}
            />
          )
        })}
      {nowMs !== undefined && <u style={{ left: `${percentAt(nowMs)}%` }} />}
    </div>
  )
}

export const BandKey = ({ state, children }: { state: BandState; children: string }) => (
  <span className={styles.key}>
    <i data-state={state} />
    {children}
  </span>
)
