"""What the sample sources define: kind, qualified name, lines."""

from __future__ import annotations

DEFINED = {
    "Shop.cs": """
        file Shop.cs 1-47
        module Shop.Carts 6-47
        interface Shop.Carts.IPayable 8-12
        method Shop.Carts.IPayable.Total 11-11
        class Shop.Carts.Cart 14-40
        method Shop.Carts.Cart.Cart 21-21
        method Shop.Carts.Cart.Count 23-23
        method Shop.Carts.Cart.Name 25-25
        method Shop.Carts.Cart.AddAsync 27-32
        method Shop.Carts.Cart.Total 34-34
        class Shop.Carts.Cart.Line 36-39
        method Shop.Carts.Cart.Line.Size 38-38
        class Shop.Carts.State 42-42
        class Shop.Carts.Point 44-44
        type Shop.Carts.Changed 46-46
    """,
    "Shop.java": """
        file Shop.java 1-55
        class Cart 10-47
        method Cart.Cart 20-22
        method Cart.total 24-29
        class Cart.Line 31-35
        method Cart.Line.count 34-34
        class Cart.State 37-37
        method Cart.State.done 37-37
        class Cart.Point 39-41
        method Cart.Point.Point 40-40
        interface Cart.Cached 43-46
        method Cart.Cached.ttl 45-45
        interface Payable 49-55
        method Payable.total 50-50
        method Payable.free 52-54
    """,
    "shop.c": """
        file shop.c 1-50
        function SQUARE 6-6
        type amount_t 8-8
        class item 10-14
        type cart_t 16-19
        class cart 16-19
        class state 21-21
        type compare_fn 23-23
        function total 25-25
        function total 27-41
        function first_item 43-45
        function main 47-50
    """,
    "shop.cpp": """
        file shop.cpp 1-53
        type Amount 5-5
        module shop.inner 7-43
        class shop.inner.Payable 9-14
        method shop.inner.Payable.~Payable 12-12
        method shop.inner.Payable.total 13-13
        class shop.inner.Cart 16-34
        method shop.inner.Cart.Cart 20-20
        method shop.inner.Cart.~Cart 21-21
        method shop.inner.Cart.total 23-25
        method shop.inner.Cart.operator== 27-27
        class shop.inner.Cart.Line 30-32
        method shop.inner.Cart.~Cart 36-39
        class shop.inner.State 41-41
        method shop.Register.close 45-48
        function largest 50-53
    """,
    "shop.go": """
        module shop.go 1-65
        interface Payable 14-18
        method Payable.Total 17-17
        type ID 21-22
        class Cart 24-28
        class Pair 31-34
        method Cart.Total 38-49
        method Pair.Key 51-53
        function NewCart 55-57
        function Map 59-65
    """,
    "shop.js": """
        module shop.js 1-55
        class Order 9-28
        method Order.constructor 15-18
        method Order.fetch 20-23
        method Order.total 25-27
        function add 30-30
        function later 32-34
        function cancel 36-38
        method Order.refund 40-42
        function walk 44-46
        method list 49-51
        function show 52-52
    """,
    "shop.kt": """
        module shop.kt 1-48
        type Amount 7-7
        interface Payable 9-12
        method Payable.total 11-11
        class Cart 14-36
        method Cart.constructor 21-21
        method Cart.total 23-27
        method Cart.empty 30-30
        class Cart.Line 33-35
        method Cart.Line.count 34-34
        class State 38-38
        class Registry 40-44
        method Registry.load 41-43
        method Cart.describe 46-46
        function parse 48-48
    """,
    "shop.php": """
        module shop.php 1-64
        interface Payable 12-18
        method Payable.total 17-17
        interface Priced 20-26
        method Priced.price 22-25
        class Cart 28-52
        method Cart.__construct 35-38
        method Cart.total 40-46
        method Cart.make 48-51
        class State 54-59
        method State.done 58-58
        function helper 61-64
    """,
    "shop.py": """
        module shop.py 1-49
        class Cart 13-38
        method Cart.__init__ 21-22
        method Cart.total 24-31
        function Cart.total.rounded 28-29
        class Cart.Line 33-38
        method Cart.Line.load 34-38
        function pay 41-45
        type Amount 48-48
    """,
    "shop.rb": """
        module shop.rb 1-44
        module Shop 8-40
        class Shop.Cart 9-37
        method Shop.Cart.initialize 14-17
        method Shop.Cart.total 19-22
        method Shop.Cart.empty? 24-26
        method Shop.Cart.build 29-31
        method Shop.Cart.== 34-36
        class Shop.Shop.Error 39-39
        function helper 42-44
    """,
    "shop.rs": """
        module shop.rs 1-75
        interface Payable 7-16
        method Payable.total 11-11
        method Payable.is_free 13-15
        class Cart 18-25
        class State 27-30
        type Amount 32-32
        class Cart 34-46
        method Cart.new 35-37
        method Cart.add 39-45
        class Cart 48-54
        type Cart.Amount 49-49
        method Cart.total 51-53
        function square 56-58
        module inner 60-64
        function inner.answer 61-63
        module tests 66-75
        function tests.starts_empty 70-74
    """,
    "shop.scala": """
        module shop.scala 1-42
        interface Payable 7-12
        method Payable.total 9-9
        method Payable.free 11-11
        class Cart 14-30
        type Cart.Amount 17-17
        method Cart.total 20-24
        method Cart.add 26-29
        class Cart 32-34
        method Cart.apply 33-33
        class Line 36-36
        class State 38-40
        type Id 42-42
    """,
    "shop.sh": """
        file shop.sh 1-27
        function build 8-15
        function deploy_all 17-21
        function rollback 23-25
    """,
    "shop.sql": """
        file shop.sql 1-29
        type users 3-7
        type shop.carts 9-12
        type open_carts 16-20
        function cart_total 22-24
        type state 26-26
    """,
    "shop.swift": """
        module shop.swift 1-57
        type Amount 5-5
        interface Payable 7-11
        method Payable.total 10-10
        class Cart 13-40
        method Cart.init 18-21
        method Cart.deinit 23-25
        method Cart.total 27-31
        class Cart.Line 33-39
        method Cart.Line.grow 36-38
        class State 42-46
        class Cart 48-52
        method Cart.same 49-51
        function load 54-57
    """,
    "shop.ts": """
        module shop.ts 1-57
        type Amount 8-8
        interface Payable 10-14
        method Payable.total 12-12
        class State 16-16
        class Cart 18-37
        method Cart.constructor 22-24
        method Cart.add 26-30
        method Cart.url 32-32
        method Cart.total 34-36
        function emptyCart 39-42
        function load 44-49
        function load.parse 45-47
        module Shop.Internal 51-55
        function Shop.Internal.check 52-54
        function legacy 57-57
    """,
    "view.tsx": """
        module view.tsx 1-29
        interface Props 5-8
        method Props.onPick 7-7
        function List 10-23
        function List.pick 12-15
        class Panel 25-29
        method Panel.render 26-28
    """,
}
