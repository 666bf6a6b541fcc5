import { type MantineColorScheme, useMantineColorScheme } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { useMe } from '../../auth/me.ts'
import { signOut } from '../../auth/sign-out.ts'
import { t } from '../../texts/texts.ts'
import { sheetOpened } from '../shortcuts/use-shortcuts.ts'
import { useNavigation } from '../use-navigation.ts'
import type { PaletteEntry } from './palette-entry.ts'

const schemes: readonly (readonly [MantineColorScheme, label: string])[] = [
  ['light', t('app.commands.light')],
  ['dark', t('app.commands.dark')],
  ['auto', t('app.commands.system')],
]

/** Returns the pages and the commands of the signed-in user. */
export function useCommands(): readonly PaletteEntry[] {
  const { roles } = useMe()
  const navigate = useNavigate()
  const { setColorScheme } = useMantineColorScheme()
  const entries = useNavigation().flatMap((group) => group.entries)
  const page = (to: string, label: string, detail: string): PaletteEntry => ({
    id: `page:${to}`,
    group: t('app.palette.pages'),
    label,
    detail,
    run: () => void navigate({ to }),
  })
  const command = (label: string, run: () => void): PaletteEntry => ({
    id: `command:${label}`,
    group: t('app.palette.commands'),
    label,
    detail: '',
    run,
  })
  return [
    page('/', t('common.home'), ''),
    ...entries.map(({ to, label, description }) => page(to, label, description)),
    ...(roles.includes('client')
      ? [command(t('app.commands.registerRobot'), () => void navigate({ to: '/robots/new' }))]
      : []),
    command(t('app.commands.shortcuts'), () => sheetOpened.set(true)),
    ...schemes.map(([scheme, label]) => command(label, () => setColorScheme(scheme))),
    command(t('common.signOut'), () => void signOut()),
  ]
}
