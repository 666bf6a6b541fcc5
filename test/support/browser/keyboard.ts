import type { Page } from 'playwright-core'
import { expect } from 'vitest'

/** More than any page has controls. */
const MAX_TABS = 80

const FOCUSED_NAME = `(() => {
  const { activeElement } = document
  const label = activeElement?.labels?.[0]?.textContent
  return activeElement?.getAttribute('aria-label') ?? label ?? activeElement?.textContent ?? ''
})()`

/** The name of the text field with the focus. */
const FOCUSED_FIELD = `((field) => field?.matches('input, textarea')
  ? field.getAttribute('aria-label') ?? field.labels?.[0]?.textContent ?? '' : '')(document.activeElement)`

/** Returns whether the control with the focus looks different without it. */
const IS_FOCUS_VISIBLE = `(() => {
  const { activeElement } = document
  const look = () => {
    const { outlineStyle, outlineWidth, borderColor, boxShadow } = getComputedStyle(activeElement)
    return [outlineStyle === 'none' ? '' : outlineStyle + outlineWidth, borderColor, boxShadow].join()
  }
  activeElement.style.transition = 'none'
  const focused = look()
  activeElement.blur()
  const blurred = look()
  activeElement.focus()
  return focused !== blurred
})()`

/** Presses Tab until a control with this name has the focus, and expects that a user sees which one it is. */
export async function tabTo(page: Page, name: string | RegExp): Promise<void> {
  const matches = (text: string) => (typeof name === 'string' ? text.startsWith(name) : name.test(text))
  for (let tabs = 0; tabs < MAX_TABS; tabs++) {
    if (matches((await page.evaluate(FOCUSED_NAME)) as string)) {
      expect(await page.evaluate(IS_FOCUS_VISIBLE), `the focus on ${name} is visible`).toBe(true)
      return
    }
    await page.keyboard.press('Tab')
  }
  throw new Error(`Tab does not reach ${name}`)
}

/** Presses a button or a link with the keyboard. */
export async function activate(page: Page, name: string | RegExp): Promise<void> {
  await tabTo(page, name)
  await page.keyboard.press('Enter')
}

/** Presses a button of the open dialog with the keyboard. */
export async function activateInDialog(page: Page, name: string | RegExp): Promise<void> {
  // Until the dialog has the focus, its opener may have the same name.
  await page.locator('[role="dialog"] :focus').waitFor()
  await activate(page, name)
}

/** Dispatches a key in the page and returns the name of the field that has the focus when the event has been handled. */
export const fieldFocusedBy = (page: Page, key: string): Promise<string> =>
  page.evaluate(`(() => {
    const init = { key: ${JSON.stringify(key)}, bubbles: true, cancelable: true }
    document.activeElement.dispatchEvent(new KeyboardEvent('keydown', init))
    return ${FOCUSED_FIELD}
  })()`)
