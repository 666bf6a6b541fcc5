import type { Locator } from 'playwright-core'

/** Holds a button with the mouse until `isDone` resolves, and lets go. */
export async function holdUntil(button: Locator, isDone: () => Promise<unknown>): Promise<void> {
  await button.scrollIntoViewIfNeeded()
  await button.hover()
  const { mouse } = button.page()
  await mouse.down()
  await isDone()
  await mouse.up()
  // A pointer on the wall keeps its tiles in their places.
  await mouse.move(1, 1)
}
