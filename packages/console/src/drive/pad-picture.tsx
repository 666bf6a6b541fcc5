import { useEffect, useRef } from 'react'
import { t } from '../texts/texts.ts'
import type { GamepadInput } from './gamepad.ts'
import styles from './pad-picture.module.css'

/** Draws the axes and buttons of the gamepad as they are now, outside of React. */
export function PadPicture({ gamepad }: { gamepad: GamepadInput }) {
  const host = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const { current } = host
    if (!current) return
    const axes: HTMLElement[] = []
    const buttons: HTMLElement[] = []
    const draw = () => {
      frame = requestAnimationFrame(draw)
      const pad = gamepad.snapshot()
      for (const [index, value] of (pad?.axes ?? []).entries()) {
        axes[index] ??= append(current, styles.axis, index)
        axes[index].style.setProperty('--value', value.toFixed(2))
        axes[index].dataset.value = value.toFixed(2)
      }
      for (const [index, isPressed] of (pad?.pressed ?? []).entries()) {
        buttons[index] ??= append(current, styles.button, index)
        buttons[index].dataset.pressed = String(isPressed)
      }
    }
    let frame = requestAnimationFrame(draw)
    return () => {
      cancelAnimationFrame(frame)
      current.replaceChildren()
    }
  }, [gamepad])
  return <div ref={host} className={styles.pad} role="img" aria-label={t('drive.pad.picture')} />
}

function append(host: HTMLElement, className: string | undefined, index: number): HTMLElement {
  const element = document.createElement('span')
  element.className = className ?? ''
  element.textContent = String(index + 1)
  host.append(element)
  return element
}
