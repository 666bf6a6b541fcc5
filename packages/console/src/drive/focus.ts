/** Fields of a form in which one does not type. */
const NOT_TYPED: ReadonlySet<string> = new Set([
  'button',
  'checkbox',
  'color',
  'file',
  'image',
  'radio',
  'range',
  'reset',
  'submit',
])
/** What has a use of its own for the arrow keys. */
const ARROW_USERS =
  'input, select, [role=slider], [role=tab], [role=menu], [role=menuitem], [role=listbox], [role=dialog]'

/** Whether keys that are pressed now are text. */
export function isTyping(element: Element | null = document.activeElement): boolean {
  if (element instanceof HTMLInputElement) return !NOT_TYPED.has(element.type)
  if (element instanceof HTMLTextAreaElement || element instanceof HTMLSelectElement) return true
  return element instanceof HTMLElement && element.isContentEditable
}

/** Whether the arrow keys and letters belong to what has the focus. */
export const usesArrows = (element: Element | null = document.activeElement): boolean =>
  isTyping(element) || element?.closest(ARROW_USERS) != null

/** Whether somebody is at this page, and not writing. */
export const isAttended = (): boolean => !document.hidden && document.hasFocus() && !isTyping()
