"""Forked data loaders in a CUDA process, and a spawned process that uses the GPU."""
import torch
import torch.multiprocessing as multiprocessing


class Squares(torch.utils.data.Dataset):
    def __len__(self):
        return 64

    def __getitem__(self, index):
        return torch.full((8,), float(index) ** 2)


def child(queue):
    x = torch.ones(16, device="cuda")
    for _ in range(5):
        x = x * 2
    queue.put(float(x[0]))


def main():
    total = torch.zeros(8, device="cuda")
    for batch in torch.utils.data.DataLoader(Squares(), batch_size=8, num_workers=2):
        total += batch.to("cuda").sum(0)
        torch.cuda._sleep(100)
    print("total", int(total[0].item()))
    context = multiprocessing.get_context("spawn")
    queue = context.Queue()
    process = context.Process(target=child, args=(queue,))
    process.start()
    print("child", int(queue.get()))
    process.join()
    print("kernel.spin_kernel", 8, flush=True)
    torch.cuda.synchronize()


if __name__ == "__main__":
    main()
