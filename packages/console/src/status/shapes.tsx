import type { ReactElement } from 'react'
import type { ShapeName } from './shape-name.ts'

const RING = { fill: 'none', stroke: 'currentColor', strokeWidth: 3.5 } as const

const shapes: Record<ShapeName, ReactElement> = {
  live: <circle cx="12" cy="12" r="7.5" />,
  delayed: <path d="M12 2.5 23 21.5H1z" />,
  // A square with a cross cut out of it.
  blind: (
    <path
      fillRule="evenodd"
      d="M2.5 2.5h19v19h-19zM12 9.9 8.4 6.3 6.3 8.4 9.9 12l-3.6 3.6 2.1 2.1 3.6-3.6 3.6 3.6 2.1-2.1-3.6-3.6 3.6-3.6-2.1-2.1z"
    />
  ),
  stopped: <path d="M7.6 1.5h8.8l6.1 6.1v8.8l-6.1 6.1H7.6l-6.1-6.1V7.6z" />,
  paused: <path d="M4.5 3h5.5v18H4.5zM14 3h5.5v18H14z" />,
  lost: <path {...RING} d="M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18M6 18 18 6" />,
  off: <circle {...RING} cx="12" cy="12" r="7.5" />,
  request: <path d="M12 1 23 12 12 23 1 12z" />,
}

/** Draws the shape of a state in the colour of the text, as tall as a capital letter. */
export const Shape = ({ name }: { name: ShapeName }) => (
  <svg
    aria-hidden="true"
    viewBox="0 0 24 24"
    width="0.9em"
    height="0.9em"
    fill="currentColor"
    style={{ flex: 'none' }}
  >
    {shapes[name]}
  </svg>
)

/** Draws the sign of every control that stops a robot: an octagon with a square in it. */
export const StopSign = ({ size = '1.5em' }: { size?: string }) => (
  <svg
    aria-hidden="true"
    viewBox="0 0 24 24"
    width={size}
    height={size}
    fill="none"
    stroke="currentColor"
    strokeWidth="2"
    strokeLinejoin="round"
    style={{ flex: 'none' }}
  >
    <path d="M7.9 2h8.2L22 7.9v8.2L16.1 22H7.9L2 16.1V7.9z" />
    <path d="M8.5 8.5h7v7h-7z" fill="currentColor" stroke="none" />
  </svg>
)
