import { useEffect, useState } from 'react'
import type { Replay } from '../player/replay.ts'

/** Texts that change more often cannot be read. */
const INTERVAL_MS = 120

/** Returns the position of a replay, at most eight times a second. Use `usePositionEffect` for drawing. */
export function usePosition({ clock, moments }: Replay): number {
  const [atMs, setAtMs] = useState(clock.position.get())
  const [, setReads] = useState(0)
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    const onChange = () => {
      timer ??= setTimeout(() => {
        timer = undefined
        setAtMs(clock.position.get())
        // Messages that were read in the meantime may belong to the same position.
        setReads((reads) => reads + 1)
      }, INTERVAL_MS)
    }
    const unsubscribe = [clock.position.subscribe(onChange), moments.subscribe(onChange)]
    onChange()
    return () => {
      clearTimeout(timer)
      for (const end of unsubscribe) end()
    }
  }, [clock, moments])
  return atMs
}

/** Calls a function on the animation frame after the position, or anything that is read for it, has changed. */
export function usePositionEffect(replay: Replay, effect: (atMs: number) => void): void {
  useEffect(() => {
    const { clock, moments, view, overview } = replay
    let frame: number | undefined
    const onChange = () => {
      frame ??= requestAnimationFrame(() => {
        frame = undefined
        effect(clock.position.get())
      })
    }
    const sources = [clock.position, clock.limits, view.range, overview.state, moments]
    const unsubscribe = sources.map((source) => source.subscribe(onChange))
    onChange()
    return () => {
      if (frame !== undefined) cancelAnimationFrame(frame)
      for (const end of unsubscribe) end()
    }
  }, [replay, effect])
}
