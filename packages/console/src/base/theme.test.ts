import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { DEFAULT_THEME, defaultCssVariablesResolver, mergeMantineTheme } from '@mantine/core'
import { expect, test } from 'vitest'
import { siteTheme } from '../../../../src/core/http/site-theme.ts'
import { cssVariables, theme } from './theme.ts'

const merged = mergeMantineTheme(DEFAULT_THEME, theme)
const defaults = defaultCssVariablesResolver(merged)
const changed = cssVariables(merged)

/** Returns the value of a custom property of the console, after all references. */
function resolvedValue(scheme: 'light' | 'dark', name: string): string {
  const all: Record<string, string> = {
    ...defaults.variables,
    ...defaults[scheme],
    ...changed.variables,
    ...changed[scheme],
  }
  const value = all[name]
  if (value === undefined) throw new Error(`the console has no ${name}`)
  const reference = /^var\((--[\w-]+)\)$/.exec(value)?.[1]
  return reference ? resolvedValue(scheme, reference) : value.toLowerCase()
}

const LONG: Readonly<Record<string, string>> = { '#fff': '#ffffff', '#000': '#000000' }
const colour = (scheme: 'light' | 'dark', name: string) => {
  const value = resolvedValue(scheme, `--mantine-${name}`)
  return LONG[value] ?? value
}

test.each(['light', 'dark'] as const)('pages and mails have the colours of the console (%s)', (scheme) => {
  const { background, surface, text, dimmed, border, edge, link, soft, primary, live, error } =
    siteTheme[scheme]
  expect({ background, surface, text, dimmed, border, edge, link, soft, primary, live, error }).toEqual({
    background: colour(scheme, 'color-body'),
    surface: resolvedValue(scheme, '--surface-1'),
    text: colour(scheme, 'color-text'),
    dimmed: colour(scheme, 'color-dimmed'),
    border: resolvedValue(scheme, '--line'),
    edge: colour(scheme, 'color-default-border'),
    link: colour(scheme, 'color-anchor'),
    soft: resolvedValue(scheme, '--accent-soft'),
    primary: colour(scheme, 'primary-color-filled'),
    live: resolvedValue(scheme, '--status-live'),
    error: colour(scheme, 'color-error'),
  })
})

test('pages have the fonts, sizes and corners of the console', () => {
  expect(siteTheme.font).toBe(merged.fontFamily)
  expect(siteTheme.title).toBe(theme.headings?.sizes?.h1?.fontSize)
  expect(merged.radius[String(theme.defaultRadius)]).toBe(siteTheme.radius)
})

test('the styles of every component that the console imports are part of it', () => {
  const folder = new URL('../', import.meta.url)
  const styles = new URL('../../../../node_modules/@mantine/core/styles/', import.meta.url)
  const listed = readFileSync(new URL('mantine.css', import.meta.url), 'utf8')
  const sources = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) =>
    /\.tsx?$/.test(path),
  )
  const imported = sources.flatMap((path) =>
    [
      ...readFileSync(new URL(path, folder), 'utf8').matchAll(/import \{([^}]*)\} from '@mantine\/core'/g),
    ].flatMap(([, names = '']) => names.split(',').map((name) => name.trim())),
  )
  const missing = new Set(
    imported.filter(
      (name) => existsSync(new URL(`${name}.css`, styles)) && !listed.includes(`/${name}.css"`),
    ),
  )
  expect([...missing]).toEqual([])
})
