// Adds up what an account has received and spent.
export function balance(account, blocks) {
  let total = 0;
  for (const block of blocks) {
    for (const payment of block.payments) {
      if (payment.to === account) total += payment.amount;
      if (payment.from === account) total -= payment.amount;
    }
  }
  return total;
}
