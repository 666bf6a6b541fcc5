import type { Page } from 'playwright-core'

/** The sizes at which every page must work: screens, a tablet and a phone, both upright and sideways. */
export const VIEWPORTS = [
  { width: 2560, height: 1440 },
  { width: 1920, height: 1080 },
  { width: 1440, height: 900 },
  { width: 1280, height: 720 },
  { width: 1024, height: 768 },
  { width: 768, height: 1024 },
  { width: 844, height: 390 },
  { width: 390, height: 844 },
] as const

const isPhone = ({ width, height }: { width: number; height: number }) => Math.min(width, height) < 480

/** The sizes for further languages, because longer words are cut where space is scarce: phones, and the narrowest page beside the navigation. */
export const NARROW_VIEWPORTS = VIEWPORTS.filter((size) => isPhone(size) || size.width === 768)

// The functions from here to `findLayoutProblems` run in the page. They use nothing but each other.

/** Returns whether a user sees the element: neither hidden nor for screen readers only. */
function isShown(element: Element): boolean {
  const { width, height } = element.getBoundingClientRect()
  const isExcluded = element.closest('[aria-hidden=true], [inert], .skip-link') !== null
  // The closed navigation of a phone is beside the window.
  const isBesideWindow = (element.closest('nav')?.getBoundingClientRect().right ?? 1) <= 0
  return (
    width > 1 &&
    height > 1 &&
    !isExcluded &&
    !isBesideWindow &&
    element.checkVisibility({ visibilityProperty: true, opacityProperty: true })
  )
}

/** Returns the element that a user presses for a control: itself, the field around it, or the label that draws it. */
function pressedFor(control: Element): Element | undefined {
  if (isShown(control)) return control.closest('.mantine-Input-wrapper') ?? control
  const label = control instanceof HTMLInputElement ? control.labels?.[0] : undefined
  return label && isShown(label) ? label : undefined
}

function describe(element: Element): string {
  const name = element.getAttribute('aria-label') || element.textContent || element.outerHTML
  return `${element.tagName.toLowerCase()} "${name.trim().slice(0, 60)}"`
}

/** Returns whether the middle of the element is the element, after scrolling to it. Messages that pop up cover it for seconds only. */
function isUncovered(element: Element): boolean {
  element.scrollIntoView({ block: 'center', inline: 'center', behavior: 'instant' })
  const box = Array.from(element.getClientRects()).find(({ width }) => width > 0)
  if (!box) return false
  const hit = document.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2)
  if (hit?.closest('.mantine-Notifications-root')) return true
  return hit !== null && (element.contains(hit) || hit.contains(element))
}

/**
 * Returns whether a finger may miss the control: it has less than 24 pixels, and a circle of 24 pixels around its middle touches
 * another one (WCAG 2.5.8). Links within a text are as high as its lines.
 */
function isTooSmall(element: Element, others: readonly Element[]): boolean {
  const { left, top, width, height } = element.getBoundingClientRect()
  if (getComputedStyle(element).display === 'inline' || (width >= 23.5 && height >= 23.5)) return false
  const [x, y] = [left + width / 2, top + height / 2]
  return others.some((other) => {
    if (other.contains(element) || element.contains(other)) return false
    const box = other.getBoundingClientRect()
    const dx = Math.max(box.left - x, 0, x - box.right)
    const dy = Math.max(box.top - y, 0, y - box.bottom)
    return Math.hypot(dx, dy) < 11.5
  })
}

/** Returns whether an element has text of its own. */
function hasOwnText(element: Element): boolean {
  return Array.from(element.childNodes).some(
    (node) => node.nodeType === Node.TEXT_NODE && node.textContent?.trim(),
  )
}

/**
 * Returns whether a part of an element's text is cut off by itself or by what it lies in. An ellipsis may end a name in a heading or
 * in a link to what has the name, and a text whose whole is its title, as in the rows of lists; messages of users may end after some
 * lines; what scrolls by itself shows all of it.
 */
function isCut(element: Element): boolean {
  const range = document.createRange()
  range.selectNodeContents(element)
  const text = range.getBoundingClientRect()
  for (let box: Element | null = element; box && box !== document.body; box = box.parentElement) {
    const { overflowX, overflowY, textOverflow, webkitLineClamp } = getComputedStyle(box)
    if (/auto|scroll/.test(overflowX + overflowY)) return false
    if (textOverflow === 'ellipsis' && box.closest('h1, h2, h3, a, [title], [role=cell]')) return false
    if (webkitLineClamp !== 'none') return false
    const { left, right, top, bottom } = box.getBoundingClientRect()
    const isWide = overflowX !== 'visible' && (text.right > right + 1.5 || text.left < left - 1.5)
    const isHigh = overflowY !== 'visible' && (text.bottom > bottom + 2 || text.top < top - 2)
    if (isWide || isHigh) return true
  }
  return false
}

const SMALLEST_PX = 12

/** Returns what is wrong with the instruments on a picture: they overlap, leave the window, or have text beyond their edges. */
function findInstrumentProblems(): string[] {
  const instruments = Array.from(document.querySelectorAll<HTMLElement>('[data-hud]')).filter(isShown)
  const problems: string[] = []
  const overlap = (a: DOMRect, b: DOMRect) =>
    Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 &&
    Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 1
  for (const [index, one] of instruments.entries()) {
    const box = one.getBoundingClientRect()
    const name = one.dataset.hud
    if (box.left < -1 || box.top < -1 || box.right > innerWidth + 1 || box.bottom > innerHeight + 1)
      problems.push(`has ${name} outside of the window`)
    for (const other of instruments.slice(index + 1)) {
      if (one.contains(other) || other.contains(one)) continue
      if (overlap(box, other.getBoundingClientRect())) problems.push(`has ${name} on ${other.dataset.hud}`)
    }
    for (const text of Array.from(one.querySelectorAll('*')).filter((it) => hasOwnText(it) && isShown(it))) {
      const { left, right } = text.getBoundingClientRect()
      if (left < box.left - 1.5 || right > box.right + 1.5)
        problems.push(`has text beyond ${name}: ${describe(text)}`)
    }
  }
  return problems
}

function findLayoutProblems(isPhone: boolean): string[] {
  const all = (selector: string) => Array.from(document.querySelectorAll(selector))
  const excess = document.documentElement.scrollWidth - innerWidth
  const problems = excess > 0 ? [`scrolls sideways by ${excess} pixels`] : []
  if (!all('h1').some(isShown)) problems.push('shows no heading')
  const texts = all('body *').filter(
    (it) => !it.closest('svg, script, style') && hasOwnText(it) && isShown(it),
  )
  for (const text of texts) {
    if (isCut(text)) problems.push(`cuts ${describe(text)}`)
    const size = Number.parseFloat(getComputedStyle(text).fontSize)
    if (size < SMALLEST_PX - 0.05) problems.push(`has text of ${size} pixels: ${describe(text)}`)
  }
  problems.push(...findInstrumentProblems())
  const controls = all(
    'a[href], button, input, select, textarea, summary, [role=button], [role=switch], [role=slider]',
  )
  const pressed = [...new Set(controls.map(pressedFor).filter((element) => element !== undefined))]
  for (const element of pressed) {
    if (!isUncovered(element)) problems.push(`covers ${describe(element)}`)
    if (isPhone && isTooSmall(element, pressed)) problems.push(`has a small target: ${describe(element)}`)
  }
  scrollTo({ top: 0, behavior: 'instant' })
  return problems
}

const SCRIPT = [
  `const SMALLEST_PX = ${SMALLEST_PX}`,
  isShown,
  pressedFor,
  describe,
  isUncovered,
  isTooSmall,
  hasOwnText,
  isCut,
  findInstrumentProblems,
  findLayoutProblems,
].join('\n')

/** Resolves after the browser has painted the latest change. */
const PAINTED =
  'new Promise((painted) => requestAnimationFrame(() => requestAnimationFrame(() => painted())))'
/** How often a page with problems is looked at: pages render some parts after a change of the size. */
const ATTEMPTS = 10

/**
 * Returns what is wrong with the layout of a page at the size of its window, one line each: horizontal scrolling, a missing heading,
 * cut or small text, instruments that overlap, controls that are covered or out of view, and on phones targets that a finger may miss.
 */
export async function layoutProblems(page: Page): Promise<string[]> {
  const onPhone = isPhone(page.viewportSize() as { width: number; height: number })
  let problems: string[] = []
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    await page.evaluate(PAINTED)
    problems = await page.evaluate(`(() => { ${SCRIPT}\n return findLayoutProblems(${onPhone}) })()`)
    if (problems.length === 0) break
  }
  return problems
}
