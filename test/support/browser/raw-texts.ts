import {
  eventTypes,
  NotificationType,
  RobotStatus,
  SessionEventType,
  SessionStatus,
} from '@wheelhouse/protocol'
import type { Page } from 'playwright-core'

/** Codes such as `robot_lost` or `session.stop_cleared`, outside of addresses and paths. */
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
/** Messages of validators and browsers. */
const INTERNAL_TERMS =
  /invalid input|expected \w+, received|too small|too big|failed to fetch|unrecognized key|undefined|NaN|\[object/i

/**
 * Collects the visible text and the labels of a page, without code and user input. Reads text nodes, because CSS shows
 * badges in capitals.
 */
const VISIBLE_TEXTS = `(() => {
  const excluded = 'code, pre, kbd, samp, textarea, script, style, [translate=no]'
  const visible = (element) => element && !element.closest(excluded) && element.checkVisibility({ visibilityProperty: true })
  const texts = []
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  while (walker.nextNode()) if (visible(walker.currentNode.parentElement)) texts.push(walker.currentNode.data)
  for (const name of ['aria-label', 'title', 'placeholder', 'alt', 'aria-description']) {
    for (const element of document.querySelectorAll('[' + name + ']')) if (visible(element)) texts.push(element.getAttribute(name))
  }
  return { texts, path: location.pathname }
})()`

/** Returns raw codes in a visible text. Webhook pages may show event names. */
export function rawWordsIn(text: string, { ofWebhooks = false } = {}): string[] {
  const words = [
    ...(text.match(SNAKE_CASE) ?? []),
    ...(text.match(/\b[A-Z_]{4,}\b/g) ?? []).filter((word) => STATUSES.has(word)),
    ...(text.match(/\b[a-z]+(\.[a-z_]+)+\b/g) ?? []).filter((word) => DOTTED.has(word)),
    ...(INTERNAL_TERMS.exec(text) ?? []).slice(0, 1),
  ]
  return words.filter((word) => !(ofWebhooks && eventTypes.includes(word)))
}

/** Returns raw codes and validator messages that a page shows, one line each. */
export async function rawTexts(page: Page): Promise<string[]> {
  const { texts, path } = (await page.evaluate(VISIBLE_TEXTS)) as { texts: string[]; path: string }
  const ofWebhooks = path.includes('/webhooks')
  return texts.flatMap((text) =>
    rawWordsIn(text, { ofWebhooks }).map(
      (word) => `a raw text on ${path}: "${word}" in "${text.slice(0, 200)}"`,
    ),
  )
}
