import { afterAll, beforeAll, expect, test } from 'vitest'
import { seriousIssues } from '../../support/browser/console.ts'
import { comparePictures, STRICT } from '../../support/gallery/compare.ts'
import { compareWithAccepted } from '../../support/gallery/differences.ts'
import { type OpenGallery, openGallery } from '../../support/gallery/photographs.ts'

let gallery: OpenGallery
beforeAll(async () => {
  gallery = await openGallery()
})
afterAll(() => gallery?.[Symbol.asyncDispose]())

const HOW_TO_ACCEPT = 'Look at the pictures there, then accept them with npm run gallery:accept'

test('every state of the gallery looks as accepted', async () => {
  const { taken, accepted, differences, folder } = await compareWithAccepted(gallery)
  expect(taken.length).toBeGreaterThanOrEqual(60)
  expect(differences, `${folder} shows the differences. ${HOW_TO_ACCEPT}.`).toEqual([])
  expect(taken, 'a state is new or was removed: npm run gallery:accept').toEqual(accepted)
})

test('another colour and a step of one pixel change a picture, and nothing else does', async () => {
  await using shown = await gallery.open('light')
  const state = shown.states.find(({ id }) => id === 'robot-states')!
  const isChanged = async () => !comparePictures(before, await shown.photograph(state), STRICT).isEqual
  const before = await shown.photograph(state)
  expect(await isChanged()).toBe(false)
  const styles = [
    '[data-state="READY"] { background: #099268 }',
    '[data-state="READY"] { transform: translateX(1px) }',
    '[data-state="OFFLINE"] { letter-spacing: 0.3px }',
  ]
  for (const content of styles) {
    const style = await shown.page.addStyleTag({ content })
    expect(await isChanged(), content).toBe(true)
    await style.evaluate((element) => element.parentNode?.removeChild(element))
  }
  expect(await isChanged()).toBe(false)
})

test.each(['light', 'dark'] as const)('all states are accessible (%s)', async (scheme) => {
  await using shown = await gallery.open(scheme)
  expect(await seriousIssues(shown.page)).toEqual([])
})
