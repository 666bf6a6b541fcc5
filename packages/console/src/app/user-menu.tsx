import { type MantineColorScheme, Menu, useMantineColorScheme } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import type { ReactElement } from 'react'
import { IconLogout, IconSettings } from '../base/icons.tsx'
import { useMe } from '../platform/platform.ts'
import { signOut } from '../platform/sign-out.ts'
import { useSelectLanguage } from '../settings/use-profile-change.ts'
import { LANGUAGES, type Language, languageOf } from '../texts/languages.ts'
import { language, t } from '../texts/texts.ts'

const schemes: readonly { readonly scheme: MantineColorScheme; readonly label: string }[] = [
  { scheme: 'light', label: t('app.userMenu.light') },
  { scheme: 'dark', label: t('app.userMenu.dark') },
  { scheme: 'auto', label: t('app.userMenu.system') },
]

const shownLanguage = languageOf([language])

/** Shows the account menu below its button, open: settings, colour scheme, language and sign-out. */
export default function UserMenu({ children }: { children: ReactElement }) {
  const me = useMe()
  const navigate = useNavigate()
  const selectLanguage = useSelectLanguage()
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  return (
    <Menu defaultOpened position="top-start" width={220}>
      <Menu.Target>{children}</Menu.Target>
      <Menu.Dropdown>
        <Menu.Label c="dimmed">{me.email ?? me.display_name}</Menu.Label>
        <Menu.Item
          leftSection={<IconSettings size={16} />}
          onClick={() => void navigate({ to: '/settings' })}
        >
          {t('common.settings')}
        </Menu.Item>
        <Menu.Divider />
        <Menu.RadioGroup
          value={colorScheme}
          onChange={(value) => setColorScheme(value as MantineColorScheme)}
        >
          {schemes.map(({ scheme, label }) => (
            <Menu.RadioItem key={scheme} value={scheme} closeMenuOnClick>
              {label}
            </Menu.RadioItem>
          ))}
        </Menu.RadioGroup>
        <Menu.Divider />
        <Menu.RadioGroup value={shownLanguage} onChange={(value) => selectLanguage(value as Language)}>
          {Object.entries(LANGUAGES).map(([code, name]) => (
            <Menu.RadioItem key={code} value={code} lang={code} closeMenuOnClick>
              {name}
            </Menu.RadioItem>
          ))}
        </Menu.RadioGroup>
        <Menu.Divider />
        <Menu.Item leftSection={<IconLogout size={16} />} onClick={() => void signOut()}>
          {t('common.signOut')}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}
