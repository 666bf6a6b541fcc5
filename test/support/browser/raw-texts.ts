import {
  eventTypes,
  NotificationType,
  RobotStatus,
  SessionEventType,
  SessionStatus,
} from '@wheelhouse/protocol'
import type { Page } from 'playwright-core'

/** Codes of two words or more, `robot_lost` or `session.stop_cleared`; no part of an address or a path. */
const SNAKE_CASE = /(?<![\w/@:.=-])[a-z]+(?:\.[a-z]+)*_[a-z_]+(?![\w/=])/g
const STATUSES = new Set<string>([
  ...RobotStatus.options,
  ...SessionStatus.options,
  'APPROVED',
  'REJECTED',
  'DRAFT',
  'OPEN',
  'PAID',
  'VOID',
  'FAILED',
  'DELIVERED',
  'REQUESTED',
  'DECLINED',
])
const DOTTED = new Set<string>([...SessionEventType.options, ...NotificationType.options])
/** How validators and browsers speak. */
const INTERNAL_TERMS =
  /invalid input|expected \w+, received|too small|too big|failed to fetch|unrecognized key|undefined|NaN|\[object/i

/**
 * What a page says to people: its visible text and the names of its parts, without what is for programs (code) and what
 * participants typed. Text nodes, because badges are shown in capitals.
 */
const VISIBLE_TEXTS = `(() => {
  const apart = 'code, pre, kbd, samp, textarea, script, style, [translate=no]'
  const visible = (one) => one && !one.closest(apart) && one.checkVisibility({ visibilityProperty: true })
  const said = []
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  while (walker.nextNode()) if (visible(walker.currentNode.parentElement)) said.push(walker.currentNode.data)
  for (const name of ['aria-label', 'title', 'placeholder', 'alt', 'aria-description']) {
    for (const one of document.querySelectorAll('[' + name + ']')) if (visible(one)) said.push(one.getAttribute(name))
  }
  return { said, path: location.pathname }
})()`

/** Returns the codes in a text that a person reads. Webhooks are of programs: there, names of events may be read. */
export function rawWordsIn(text: string, { ofWebhooks = false } = {}): string[] {
  const words = [
    ...(text.match(SNAKE_CASE) ?? []),
    ...(text.match(/\b[A-Z_]{4,}\b/g) ?? []).filter((word) => STATUSES.has(word)),
    ...(text.match(/\b[a-z]+(\.[a-z_]+)+\b/g) ?? []).filter((word) => DOTTED.has(word)),
    ...(INTERNAL_TERMS.exec(text) ?? []).slice(0, 1),
  ]
  return words.filter((word) => !(ofWebhooks && eventTypes.includes(word)))
}

/** Returns the codes and the raw texts of validators that a page shows as it is now, one line each. */
export async function rawTexts(page: Page): Promise<string[]> {
  const { said, path } = (await page.evaluate(VISIBLE_TEXTS)) as { said: string[]; path: string }
  const ofWebhooks = path.includes('/webhooks')
  return said.flatMap((text) =>
    rawWordsIn(text, { ofWebhooks }).map(
      (word) => `a raw text on ${path}: "${word}" in "${text.slice(0, 200)}"`,
    ),
  )
}
