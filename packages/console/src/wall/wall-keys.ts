import { type RefObject, useEffect } from 'react'
import { isTyping, latinKey } from '../base/keys.ts'

/**
 * Runs the keys of the wall while the component is mounted: 1 to 9 do what the numbered tile offers, holding S stops the robot
 * whose tile is focused or pointed at, and / begins to find a robot. Enter opens a focused tile, because that is a link.
 */
export function useWallKeys(wall: RefObject<HTMLElement | null>): void {
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      const { current: page } = wall
      if (!page || event.repeat || event.ctrlKey || event.metaKey || event.altKey) return
      if (isTyping() || document.querySelector('[role=dialog]') !== null) return
      const key = latinKey(event)
      const target =
        key === '/'
          ? page.querySelector<HTMLElement>('[type=search]')
          : key === 's'
            ? page.querySelector<HTMLElement>('[data-robot]:is(:focus-within, :hover) [data-testid=stop]')
            : page.querySelector<HTMLElement>(`[data-number="${/^[1-9]$/.test(key) ? key : ''}"]`)
      if (!target) return
      event.preventDefault()
      target.focus()
      // The button holds itself, and ends with the key.
      if (key === 's') target.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }))
      else if (key !== '/') target.click()
    }
    window.addEventListener('keydown', onKeyDown)
    return () => window.removeEventListener('keydown', onKeyDown)
  }, [wall])
}

/** A pointer that rests for longer points at nothing: a wall runs for days. */
const RESTING_MS = 10_000

/** Returns a function that returns whether somebody points at a robot, or has the focus on one by key. */
export function watchAttention(part: HTMLElement): { isAttended(): boolean; end(): void } {
  let movedMs = Number.NEGATIVE_INFINITY
  const note = () => {
    movedMs = performance.now()
  }
  part.addEventListener('pointermove', note)
  part.addEventListener('pointerdown', note)
  return {
    isAttended: () =>
      part.querySelector('[data-held=true], [data-robot] :focus-visible') !== null ||
      (part.querySelector('[data-robot]:hover') !== null && performance.now() - movedMs < RESTING_MS),
    end() {
      part.removeEventListener('pointermove', note)
      part.removeEventListener('pointerdown', note)
    },
  }
}
