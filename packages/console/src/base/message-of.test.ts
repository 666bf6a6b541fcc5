import { ErrorCode } from '@wheelhouse/protocol'
import { ApiError } from '@wheelhouse/sdk'
import { afterEach, expect, test, vi } from 'vitest'
import de from '../texts/de.json'
import en from '../texts/en.json'

afterEach(() => {
  vi.unstubAllGlobals()
  vi.resetModules()
})

/** Loads the texts in a browser with this language. */
async function errorTextIn(language: string) {
  vi.resetModules()
  vi.stubGlobal('navigator', { languages: [language] })
  return (await import('./message-of.ts')).errorText
}

const offline = new ApiError(409, 'The robot is offline. {{count}}', { code: 'robot_offline' })

test('in English an error has the message of the server', async () => {
  const errorText = await errorTextIn('en-GB')
  expect(errorText(offline)).toBe(offline.message)
})

test('in German an error has the text of its code', async () => {
  const errorText = await errorTextIn('de-AT')
  expect(errorText(offline)).toBe(de.errors.robot_offline)
})

test('an error with values that only the server knows, and one without a code, keep their messages', async () => {
  const errorText = await errorTextIn('de')
  for (const code of ['booking_overlap', 'code_of_a_later_version', '', undefined]) {
    const error = new ApiError(409, 'The robot is already booked {{when}}.', { code })
    expect(errorText(error)).toBe(error.message)
  }
  expect(errorText(new TypeError('x is not a function'))).toBe('x is not a function')
})

test('the German catalogue names published codes only, and their texts have no values', () => {
  expect(Object.keys(de.errors).filter((code) => !ErrorCode.safeParse(code).success)).toEqual([])
  expect(Object.values(de.errors).filter((text) => text.includes('{{'))).toEqual([])
  expect(en).not.toHaveProperty('errors')
})
