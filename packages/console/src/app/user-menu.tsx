import {
  Avatar,
  type MantineColorScheme,
  Menu,
  Text,
  UnstyledButton,
  useMantineColorScheme,
  VisuallyHidden,
} from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { shortList } from '../base/format.ts'
import { IconLogout, IconSettings } from '../base/icons.tsx'
import { useMe } from '../platform/platform.ts'
import { signOut } from '../platform/sign-out.ts'
import { useSelectLanguage } from '../settings/use-profile-change.ts'
import { roleTexts } from '../texts/code-texts.ts'
import { LANGUAGES, type Language, languageOf } from '../texts/languages.ts'
import { language, t } from '../texts/texts.ts'
import styles from './shell.module.css'

const schemes: readonly { readonly scheme: MantineColorScheme; readonly label: string }[] = [
  { scheme: 'light', label: t('app.userMenu.light') },
  { scheme: 'dark', label: t('app.userMenu.dark') },
  { scheme: 'auto', label: t('app.userMenu.system') },
]

const shownLanguage = languageOf([language])

/** Shows the account menu: settings, colour scheme, language and sign-out. */
export default function UserMenu() {
  const me = useMe()
  const navigate = useNavigate()
  const selectLanguage = useSelectLanguage()
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  return (
    <Menu position="top-start" width={220}>
      <Menu.Target>
        <UnstyledButton className={styles.entry} w="100%" py={6}>
          <VisuallyHidden>{t('app.userMenu.label', { name: me.display_name })}</VisuallyHidden>
          <Avatar aria-hidden src={me.avatar_url} name={me.display_name} alt="" size={34} />
          <span aria-hidden style={{ lineHeight: 1.25, minWidth: 0, overflowWrap: 'anywhere' }}>
            <Text span c="var(--mantine-color-text)" inherit>
              {me.display_name}
            </Text>
            <Text size="xs" c="dimmed">
              {shortList.format(me.roles.map((role) => roleTexts[role]))}
            </Text>
          </span>
        </UnstyledButton>
      </Menu.Target>
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
