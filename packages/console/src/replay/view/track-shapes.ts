import type { LogEntry } from './log-entries.ts'

const HATCH_PX = 6

/** Colours by the name of their custom property. */
export type Colors = (name: string) => string

/** Returns the custom properties `--replay-…` of an element, as they are in the present colour scheme. */
export function colorsOf(element: Element): Colors {
  const style = getComputedStyle(element)
  const known = new Map<string, string>()
  return (name) => {
    const color = known.get(name) ?? style.getPropertyValue(`--replay-${name}`).trim()
    known.set(name, color)
    return color
  }
}

/** Draws a mark for an entry of the log. */
export function drawEntry(
  context: CanvasRenderingContext2D,
  x: number,
  y: number,
  kind: LogEntry['kind'],
  colors: Colors,
): void {
  context.beginPath()
  if (kind === 'chat') context.roundRect(x - 4, y - 4, 8, 7, 2)
  else if (kind === 'stop') context.rect(x - 4, y - 4, 8, 8)
  else context.arc(x, y, 3, 0, 2 * Math.PI)
  context.fillStyle = colors(kind === 'chat' ? 'chat' : kind === 'stop' ? 'stopped' : 'event')
  context.fill()
}

/** Draws a bookmark. */
export function drawFlag(context: CanvasRenderingContext2D, x: number, y: number, color: string): void {
  context.fillStyle = color
  context.beginPath()
  context.moveTo(x - 4, y - 7)
  context.lineTo(x + 4, y - 7)
  context.lineTo(x + 4, y + 7)
  context.lineTo(x, y + 3)
  context.lineTo(x - 4, y + 7)
  context.fill()
}

export function hatch(
  context: CanvasRenderingContext2D,
  { left, right, top, bottom }: { left: number; right: number; top: number; bottom: number },
  colors: Colors,
): void {
  const end = Math.max(right, left + 2)
  context.save()
  context.beginPath()
  context.rect(left, top, end - left, bottom - top)
  context.clip()
  context.fillStyle = colors('gap-fill')
  context.fillRect(left, top, end - left, bottom - top)
  context.strokeStyle = colors('gap')
  context.lineWidth = 1.5
  context.beginPath()
  const first = Math.floor(left / HATCH_PX) * HATCH_PX
  for (let x = first - (bottom - top); x < end; x += HATCH_PX) {
    context.moveTo(x, bottom)
    context.lineTo(x + bottom - top, top)
  }
  context.stroke()
  context.restore()
}

/** Fills a rectangle with round corners. */
export function fillRounded(
  context: CanvasRenderingContext2D,
  x: number,
  y: number,
  width: number,
  height: number,
  color: string,
): void {
  context.fillStyle = color
  context.beginPath()
  context.roundRect(x, y, width, height, Math.min(3, width / 2))
  context.fill()
}
