import { useForceUpdate } from '@mantine/hooks'
import { useEffect } from 'react'
import { clockText, decimals } from '../../base/format.ts'
import type { Store } from '../../base/store.ts'
import { language } from '../../texts/texts.ts'
import type { Replay } from '../player/replay.ts'

/** Returns a time since the start as `4:05.3`, in the viewer's format. */
export function preciseClock(ms: number, digits = 1): string {
  const seconds = Math.max(0, Math.floor(ms / 1_000 / 10 ** -digits + 1e-6) * 10 ** -digits)
  const fraction = decimals(seconds - Math.floor(seconds), digits)
  return digits === 0 ? clockText(seconds) : clockText(seconds) + fraction.slice(1)
}

const wall = new Intl.DateTimeFormat(language, {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  fractionalSecondDigits: 1,
})

/** Returns the time of day with tenths of a second, in the viewer's zone. */
export const wallClock = (atMs: number): string => wall.format(atMs)

/** Texts that change more often cannot be read. */
const INTERVAL_MS = 120

/** Returns the position of a replay, at most eight times a second. Use `usePositionEffect` for drawing. */
export function usePosition({ clock, moments }: Replay): number {
  const render = useForceUpdate()
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    const onChange = () => {
      timer ??= setTimeout(() => {
        timer = undefined
        render()
      }, INTERVAL_MS)
    }
    // Messages that were read in the meantime may belong to the same position.
    const unsubscribe = [clock.position.subscribe(onChange), moments.subscribe(onChange)]
    onChange()
    return () => {
      clearTimeout(timer)
      for (const end of unsubscribe) end()
    }
  }, [clock, moments, render])
  return clock.position.get()
}

/**
 * Calls a function on the animation frame after the component, the position, or anything that is read for it has changed.
 * @param further what the function reads in addition
 */
export function usePositionEffect(
  { clock, moments, view, overview }: Replay,
  effect: (atMs: number) => void,
  further: Pick<Store<unknown>, 'subscribe'> = clock.position,
): void {
  useEffect(() => {
    let frame: number | undefined
    const onChange = () => {
      frame ??= requestAnimationFrame(() => {
        frame = undefined
        effect(clock.position.get())
      })
    }
    const sources = [clock.position, clock.limits, view.range, overview, moments, further]
    const unsubscribe = sources.map((source) => source.subscribe(onChange))
    onChange()
    return () => {
      if (frame !== undefined) cancelAnimationFrame(frame)
      for (const end of unsubscribe) end()
    }
  })
}
