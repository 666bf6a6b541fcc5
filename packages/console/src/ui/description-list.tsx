import { SimpleGrid, type SimpleGridProps, Text } from '@mantine/core'
import type { ReactNode } from 'react'

/** Renders a grid of labelled values. Its children are `DescriptionItem`s. */
export const DescriptionList = ({
  cols,
  children,
}: {
  cols: SimpleGridProps['cols']
  children: ReactNode
}) => (
  <SimpleGrid component="dl" {...(cols && { cols })} m={0}>
    {children}
  </SimpleGrid>
)

/** Renders a labelled value. `size` emphasizes the value. */
export const DescriptionItem = (props: { label: string; size?: 'lg' | 'xl'; children: ReactNode }) => (
  <div style={{ overflowWrap: 'anywhere' }}>
    <Text component="dt" size="sm" c="dimmed">
      {props.label}
    </Text>
    <Text component="dd" m={0} {...(props.size && { size: props.size, fw: 600 })}>
      {props.children}
    </Text>
  </div>
)
