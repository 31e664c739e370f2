import { createGateway } from 'foldout-mcp'

export const gateway = await createGateway({ mcpServers: {} })
