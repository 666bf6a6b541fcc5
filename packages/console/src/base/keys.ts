/** Input types that take no text. */
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
/** Elements that use the arrow keys themselves. */
const ARROW_USERS =
  'input, select, [role=slider], [role=tab], [role=menu], [role=menuitem], [role=listbox], [role=dialog]'

/** Returns whether key presses are text input. */
export function isTyping(element: Element | null = document.activeElement): boolean {
  if (element instanceof HTMLInputElement) return !NOT_TYPED.has(element.type)
  if (element instanceof HTMLTextAreaElement || element instanceof HTMLSelectElement) return true
  return element instanceof HTMLElement && element.isContentEditable
}

/** Returns whether the focused element uses the arrow keys and letters. */
export const usesArrows = (element: Element | null = document.activeElement): boolean =>
  isTyping(element) || element?.closest(ARROW_USERS) != null

/** Takes the focus from the focused element, so that the next key drives. */
export function leaveField(): void {
  if (document.activeElement instanceof HTMLElement) document.activeElement.blur()
}

/** Returns whether the page has the focus and the user is not typing. */
export const isAttended = (): boolean => !document.hidden && document.hasFocus() && !isTyping()

const LETTER = /^Key([A-Z])$/
const LAST_ASCII = '\u007f'

/**
 * Returns the key of a shortcut in lower case: what it types, or for a layout without Latin letters, such as the Cyrillic one,
 * the letter that an English keyboard has there.
 */
export function latinKey({ key, code }: Pick<KeyboardEvent, 'key' | 'code'>): string {
  const letter = key.length === 1 && key > LAST_ASCII ? LETTER.exec(code)?.[1] : undefined
  return (letter ?? key).toLowerCase()
}

/** Returns whether a key press is a shortcut of the page: it is no text, no combination, and belongs to no dialog. */
export const isShortcut = (event: KeyboardEvent): boolean =>
  !(event.repeat || event.isComposing || event.ctrlKey || event.metaKey || event.altKey) &&
  !isTyping() &&
  document.querySelector('[role=dialog]') === null
