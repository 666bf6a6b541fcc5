import { Avatar, Menu, UnstyledButton, useMantineColorScheme, VisuallyHidden } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { useMe } from '../auth/me.ts'
import { signOut } from '../auth/sign-out.ts'
import { IconDeviceDesktop, IconLogout, IconMoon, IconSettings, IconSun } from '../ui/icons.tsx'

const schemes = [
  { scheme: 'light', label: 'Light', icon: IconSun },
  { scheme: 'dark', label: 'Dark', icon: IconMoon },
  { scheme: 'auto', label: 'System', icon: IconDeviceDesktop },
] as const

/** Shows the account menu: settings, colour scheme and sign-out. */
export default function UserMenu() {
  const me = useMe()
  const navigate = useNavigate()
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  return (
    <Menu position="bottom-end" width={220}>
      <Menu.Target>
        <UnstyledButton>
          <VisuallyHidden>Account of {me.display_name}</VisuallyHidden>
          <Avatar
            aria-hidden
            src={me.avatar_url}
            name={me.display_name}
            alt=""
            color="blue.9"
            variant="filled"
          />
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label c="dimmed">{me.email ?? me.display_name}</Menu.Label>
        <Menu.Item
          leftSection={<IconSettings size={16} />}
          onClick={() => void navigate({ to: '/settings' })}
        >
          Settings
        </Menu.Item>
        <Menu.Divider />
        {schemes.map(({ scheme, label, icon: Icon }) => (
          <Menu.Item
            key={scheme}
            role="menuitemradio"
            aria-checked={colorScheme === scheme}
            leftSection={<Icon size={16} />}
            rightSection={colorScheme === scheme ? '✓' : undefined}
            onClick={() => setColorScheme(scheme)}
          >
            {label}
          </Menu.Item>
        ))}
        <Menu.Divider />
        <Menu.Item leftSection={<IconLogout size={16} />} onClick={() => void signOut()}>
          Sign out
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}
