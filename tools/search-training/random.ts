export function below(random: () => number, limit: number): number {
  return Math.floor(random() * limit)
}
