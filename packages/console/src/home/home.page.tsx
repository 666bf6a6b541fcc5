import { SimpleGrid, Text, Title } from '@mantine/core'
import { useNavigation } from '../app/use-navigation.ts'
import { useMe } from '../auth/me.ts'
import { LinkCard } from '../ui/links.tsx'
import { Page } from '../ui/page.tsx'

/** Lists the pages that the user may open. */
export function HomePage() {
  const me = useMe()
  const entries = useNavigation().flatMap((group) => group.entries)
  return (
    <Page title={`Welcome, ${me.display_name}`} description="What would you like to do?">
      <SimpleGrid cols={{ base: 1, sm: 2, lg: 3 }}>
        {entries.map(({ to, label, description, icon: Icon }) => (
          <LinkCard key={to} to={to} withBorder padding="md">
            <Icon size={24} stroke={1.5} />
            <Title order={2} mt="xs">
              {label}
            </Title>
            <Text c="dimmed" size="sm">
              {description}
            </Text>
          </LinkCard>
        ))}
      </SimpleGrid>
    </Page>
  )
}
